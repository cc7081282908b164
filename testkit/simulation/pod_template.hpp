// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/owner_references.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

inline constexpr std::string_view kTemplateHashLabel = "pod-template-hash";
inline constexpr std::string_view kRevisionHashLabel = "controller-revision-hash";

/// Creates a pod with the labels, annotations, finalizers and spec of `pod_template`, without a
/// name.
[[nodiscard]] core::v1::Pod pod_from_template(const core::v1::PodTemplateSpec& pod_template,
                                              std::string_view namespace_);

/// Creates a pod that is controlled by `owner`, with a generateName based on the owner's name.
template <typename Owner>
[[nodiscard]] core::v1::Pod pod_of_owner(const core::v1::PodTemplateSpec& pod_template,
                                         const Owner& owner) {
  core::v1::Pod pod = pod_from_template(pod_template, owner.metadata.namespace_.view());
  pod.metadata.generate_name = owner.metadata.name.str() + '-';
  set_controller_reference(owner, pod);
  return pod;
}

/// Returns a hash in the alphabet of generated names, stable across processes. `collisions` varies
/// it.
[[nodiscard]] std::string text_hash(std::string_view text,
                                    std::optional<std::int32_t> collisions = std::nullopt);
[[nodiscard]] std::string template_hash(const core::v1::PodTemplateSpec& pod_template,
                                        std::optional<std::int32_t> collisions = std::nullopt);

/// Returns whether both templates are equal, ignoring the hash label that a deployment adds.
[[nodiscard]] bool same_template(const core::v1::PodTemplateSpec& a,
                                 const core::v1::PodTemplateSpec& b);

}  // namespace kube::testkit::detail
