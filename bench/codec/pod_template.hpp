// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace kube::bench {

/// What the pods of one ReplicaSet have in common.
struct PodTemplate {
  std::string name_space;
  std::string replica_set;     ///< the pods' names are this, a dash, and five random characters
  std::int64_t created = 0;    ///< of the ReplicaSet, Unix time
  core::v1::Pod pod;           ///< with gaps where a pod has something of its own
  std::string spec_fields;     ///< the field set of kube-controller-manager
  std::string status_fields;   ///< that of the kubelet, with kAddressGap where the address goes
  std::string network_fields;  ///< that of the network plugin; empty if there is none
};

/// Stands where a pod's own address, or the suffix of its service account volume, goes.
inline constexpr std::string_view kAddressGap = "0.0.0.0";
inline constexpr std::string_view kTokenVolume = "kube-api-access-";

/// Where the templates of a population live; known without making the template.
[[nodiscard]] std::string template_namespace(std::uint64_t seed, std::size_t index);
/// Likewise the name of its ReplicaSet. Different for each template.
[[nodiscard]] std::string template_replica_set(std::uint64_t seed, std::size_t index);
[[nodiscard]] PodTemplate make_template(std::uint64_t seed, std::size_t index);

}  // namespace kube::bench
