// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/codec/projection.hpp>
#include <kube/object/map.hpp>
#include <kube/object/slim.hpp>
#include <kube/object/string.hpp>
#include <kube/object/type.hpp>

#include <kube/api/core/v1.hpp>

/// Two ways to keep only the required fields of each pod: name, namespace, labels, node, address
/// and phase. A projection leaves the other fields of Pod empty; a slim type does not have them.
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

inline const Type SlimMetadata::kube_type =
    slim(keep(&SlimMetadata::name, &meta::v1::ObjectMeta::name),
         keep(&SlimMetadata::namespace_, &meta::v1::ObjectMeta::namespace_),
         keep(&SlimMetadata::labels, &meta::v1::ObjectMeta::labels));
inline const Type SlimSpec::kube_type =
    slim(keep(&SlimSpec::node_name, &core::v1::PodSpec::node_name));
inline const Type SlimStatus::kube_type =
    slim(keep(&SlimStatus::phase, &core::v1::PodStatus::phase),
         keep(&SlimStatus::pod_ip, &core::v1::PodStatus::pod_ip));
inline const Type SlimPod::kube_type = slim(keep(&SlimPod::metadata, &core::v1::Pod::metadata),
                                            keep(&SlimPod::spec, &core::v1::Pod::spec),
                                            keep(&SlimPod::status, &core::v1::Pod::status));

}  // namespace kube::bench
