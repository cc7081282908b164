// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// The arithmetic of rollouts: revisions, bounds on the number of pods, proportions. Pure
/// functions.
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
/// Number of pods beyond the desired number during a rollout; 0 for Recreate.
[[nodiscard]] std::int32_t max_surge(const apps::v1::Deployment& deployment);
/// Number of pods that may be unavailable during a rollout; 0 for Recreate.
[[nodiscard]] std::int32_t max_unavailable(const apps::v1::Deployment& deployment);
/// The progress deadline in seconds; INT32_MAX means none.
[[nodiscard]] std::int32_t progress_deadline(const apps::v1::Deployment& deployment) noexcept;

/// Returns the revision in the annotation, or 0 if there is none.
[[nodiscard]] std::int64_t revision_of(const apps::v1::ReplicaSet& set);
/// Returns a numeric annotation, or -1 if it is missing or not a number.
[[nodiscard]] std::int64_t number_annotation(const apps::v1::ReplicaSet& set,
                                             std::string_view name);
/// Copies the annotations of the deployment to its newest set and raises that set's revision to
/// `revision`; the previous revision is appended to its history. Returns whether anything changed.
bool annotate_newest(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set,
                     std::int64_t revision);
/// Records the desired and the maximum number of replicas of the deployment. Returns whether
/// anything changed.
bool annotate_size(const apps::v1::Deployment& deployment, apps::v1::ReplicaSet& set);

/// Returns the next size of the newest set: as many pods as the desired number and the surge
/// permit, given the sizes of all sets.
[[nodiscard]] std::int32_t next_size_of_newest(const apps::v1::Deployment& deployment,
                                               std::int32_t total, std::int32_t current);
/// Returns the share of `set` in `to_add` pods (negative: to remove), of which `added` are
/// distributed already.
[[nodiscard]] std::int32_t proportion_of(const apps::v1::Deployment& deployment,
                                         const apps::v1::ReplicaSet& set, std::int32_t to_add,
                                         std::int32_t added);

}  // namespace kube::testkit::detail
