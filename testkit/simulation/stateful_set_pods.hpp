// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The identity of the pods of stateful sets: ordinals, names and claims.
namespace kube::testkit::detail {

/// The ordinal in the name of a pod of the set; -1 if the name is not one of its names.
[[nodiscard]] std::int32_t ordinal_of(const apps::v1::StatefulSet& set, const core::v1::Pod& pod);
[[nodiscard]] std::int32_t first_ordinal(const apps::v1::StatefulSet& set) noexcept;
/// The pod with that ordinal, of the given template and revision.
[[nodiscard]] core::v1::Pod stateful_pod(const apps::v1::StatefulSet& set,
                                         const core::v1::PodTemplateSpec& pod_template,
                                         std::string_view revision, std::int32_t ordinal);
/// The claims of the pod with that ordinal.
[[nodiscard]] std::vector<core::v1::PersistentVolumeClaim> stateful_claims(
    const apps::v1::StatefulSet& set, std::int32_t ordinal);
/// The revision of which the pod is; empty if it is of none.
[[nodiscard]] std::string_view revision_of(const core::v1::Pod& pod);
/// Whether claims go with the set, or with a pod that is no longer wanted.
[[nodiscard]] bool deletes_claims_with_set(const apps::v1::StatefulSet& set);
[[nodiscard]] bool deletes_claims_when_scaled(const apps::v1::StatefulSet& set);

}  // namespace kube::testkit::detail
