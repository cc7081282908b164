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

/// Returns the ordinal in a pod's name, or -1 if the name does not belong to the set.
[[nodiscard]] std::int32_t ordinal_of(const apps::v1::StatefulSet& set, const core::v1::Pod& pod);
[[nodiscard]] std::int32_t first_ordinal(const apps::v1::StatefulSet& set) noexcept;
/// Creates the pod with that ordinal, of the given template and revision.
[[nodiscard]] core::v1::Pod stateful_pod(const apps::v1::StatefulSet& set,
                                         const core::v1::PodTemplateSpec& pod_template,
                                         std::string_view revision, std::int32_t ordinal);
/// Creates the claims of the pod with that ordinal.
[[nodiscard]] std::vector<core::v1::PersistentVolumeClaim> stateful_claims(
    const apps::v1::StatefulSet& set, std::int32_t ordinal);
/// Returns the revision of the pod; empty if it has none.
[[nodiscard]] std::string_view revision_of(const core::v1::Pod& pod);
/// Return whether claims are deleted with the set, or with a pod that is scaled down.
[[nodiscard]] bool deletes_claims_with_set(const apps::v1::StatefulSet& set);
[[nodiscard]] bool deletes_claims_when_scaled(const apps::v1::StatefulSet& set);

}  // namespace kube::testkit::detail
