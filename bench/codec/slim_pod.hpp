// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/projection.hpp>
#include <kube/object/map.hpp>
#include <kube/object/operations.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>

#include <kube/api/core/v1.hpp>

#include <cstddef>

/// Two ways to keep only what a program needs of each pod: name, namespace, labels, node, address and
/// phase. A projection leaves the other fields of Pod empty; a slim type does not have them.
namespace kube::bench {

inline Projection slim_projection() {
  return fields<core::v1::Pod>("metadata.name", "metadata.namespace", "metadata.labels",
                               "spec.nodeName", "status.phase", "status.podIP");
}

struct SlimMetadata {
  String name = {};
  String namespace_ = {};
  Map<String> labels = {};

  static const Type kube_type;
};

struct SlimSpec {
  String node_name = {};

  static const Type kube_type;
};

struct SlimStatus {
  String phase = {};
  String pod_ip = {};

  static const Type kube_type;
};

struct SlimPod {
  SlimMetadata metadata = {};
  SlimSpec spec = {};
  SlimStatus status = {};

  static const Type kube_type;
};

namespace tables {
inline constexpr Field kSlimMetadataFields[] = {
    field<String>("name", offsetof(SlimMetadata, name)),
    field<String>("namespace", offsetof(SlimMetadata, namespace_)),
    field<Map<String>>("labels", offsetof(SlimMetadata, labels)),
};
// Numbers as in Kubernetes' generated.proto, then the index of the field above.
inline constexpr ProtoField kSlimMetadataProto[] = {{1, 0}, {3, 1}, {11, 2}};
inline constexpr Field kSlimSpecFields[] = {
    field<String>("nodeName", offsetof(SlimSpec, node_name)),
};
inline constexpr ProtoField kSlimSpecProto[] = {{10, 0}};
inline constexpr Field kSlimStatusFields[] = {
    field<String>("phase", offsetof(SlimStatus, phase)),
    field<String>("podIP", offsetof(SlimStatus, pod_ip)),
};
inline constexpr ProtoField kSlimStatusProto[] = {{1, 0}, {6, 1}};
}  // namespace tables

inline constexpr Type SlimMetadata::kube_type{.kind = Kind::kStruct,
                                              .size = sizeof(SlimMetadata),
                                              .name = "ObjectMeta",
                                              .fields = tables::kSlimMetadataFields,
                                              .proto = tables::kSlimMetadataProto};
inline constexpr Type SlimSpec::kube_type{.kind = Kind::kStruct,
                                          .size = sizeof(SlimSpec),
                                          .name = "PodSpec",
                                          .fields = tables::kSlimSpecFields,
                                          .proto = tables::kSlimSpecProto};
inline constexpr Type SlimStatus::kube_type{.kind = Kind::kStruct,
                                            .size = sizeof(SlimStatus),
                                            .name = "PodStatus",
                                            .fields = tables::kSlimStatusFields,
                                            .proto = tables::kSlimStatusProto};

namespace tables {
inline constexpr Field kSlimPodFields[] = {
    field<SlimMetadata>("metadata", offsetof(SlimPod, metadata)),
    field<SlimSpec>("spec", offsetof(SlimPod, spec)),
    field<SlimStatus>("status", offsetof(SlimPod, status)),
};
inline constexpr ProtoField kSlimPodProto[] = {{1, 0}, {2, 1}, {3, 2}};
}  // namespace tables

inline constexpr Type SlimPod::kube_type{.kind = Kind::kStruct,
                                         .flags = Type::kHasTypeMeta,
                                         .size = sizeof(SlimPod),
                                         .name = "Pod",
                                         .fields = tables::kSlimPodFields,
                                         .proto = tables::kSlimPodProto,
                                         .api_version = "v1"};

}  // namespace kube::bench
