// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// The arithmetic of rollouts: revisions, bounds on the number of pods, proportions. Functions of objects only.
namespace kube::testkit::detail {

using ReplicaSets = std::vector<apps::v1::ReplicaSet>;

inline constexpr std::string_view kRevisionAnnotation = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistoryAnnotation =
    "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicasAnnotation =
    "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicasAnnotation = "deployment.kubernetes.io/max-replicas";

[[nodiscard]] std::int32_t replicas_of(const apps::v1::Deployment& deployment) noexcept;
[[nodiscard]] std::int32_t replicas_of(const apps::v1::ReplicaSet& set) noexcept;
[[nodiscard]] bool is_recreate(const apps::v1::Deployment& deployment) noexcept;
/// Pods beyond the wanted number during a rollout; 0 for Recreate.
[[nodiscard]] std::int32_t max_surge(const apps::v1::Deployment& deployment);
/// Pods that may be missing during a rollout; 0 for Recreate.
[[nodiscard]] std::int32_t max_unavailable(const apps::v1::Deployment& deployment);
/// The deadline for progress; INT32_MAX means none.
[[nodiscard]] std::int32_t progress_deadline(const apps::v1::Deployment& deployment) noexcept;

/// The revision that the annotation names; 0 if it names none.
[[nodiscard]] std::int64_t revision_of(const apps::v1::ReplicaSet& set);
/// An annotation that is a number; -1 if it is missing or none.
[[nodiscard]] std::int64_t number_annotation(const apps::v1::ReplicaSet& set,
                                             std::string_view name);
/// Copies the annotations of the deployment to its newest set and gives that set `revision`, if it has a lower one; the
/// revision that it had before then goes to its history. Returns whether anything changed.
bool annotate_newest(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set,
                     std::int64_t revision);
/// Notes how many pods the deployment wants and may have. Returns whether anything changed.
bool annotate_size(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set);

/// The size for the newest set: as many as fit below the wanted number and the surge, given the size of all sets.
[[nodiscard]] std::int32_t next_size_of_newest(const apps::v1::Deployment& deployment,
                                               std::int32_t total, std::int32_t current);
/// The part of `to_add` pods (negative: to remove) that goes to `set` if `added` of them are placed already.
[[nodiscard]] std::int32_t proportion_of(const apps::v1::Deployment& deployment,
                                         const apps::v1::ReplicaSet& set, std::int32_t to_add,
                                         std::int32_t added);

}  // namespace kube::testkit::detail
