// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kube::bench {

/// The common content of the pods of one ReplicaSet.
struct PodTemplate {
  std::string name_space;
  std::string replica_set;   ///< the pods' names are this, a dash, and five random characters
  std::int64_t created = 0;  ///< of the ReplicaSet, Unix time
  core::v1::Pod pod;         ///< has placeholders for the pod-specific values
  std::string spec_fields;   ///< the field set of kube-controller-manager
  /// the field set of the kubelet, with kAddressGap as placeholder of the address
  std::string status_fields;
  std::string network_fields;  ///< the field set of the network plugin; empty if there is none
};

/// Placeholder of a pod's own address, or of the suffix of its service account volume.
inline constexpr std::string_view kAddressGap = "0.0.0.0";
inline constexpr std::string_view kTokenVolume = "kube-api-access-";

/// Returns the namespace of a template, without creating the template.
[[nodiscard]] std::string template_namespace(std::uint64_t seed, std::size_t index);
/// Returns the name of its ReplicaSet. Unique for each template.
[[nodiscard]] std::string template_replica_set(std::uint64_t seed, std::size_t index);
[[nodiscard]] PodTemplate make_template(std::uint64_t seed, std::size_t index);

}  // namespace kube::bench
