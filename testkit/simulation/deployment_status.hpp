// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>
#include <kube/api/time.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The status of deployments, computed from their replica sets.
namespace kube::testkit::detail {

/// Sets a condition. Does nothing if status and reason are unchanged; keeps the transition time if
/// the status is unchanged.
void set_deployment_condition(apps::v1::DeploymentStatus& status, std::string_view type,
                              std::string_view value, std::string_view reason,
                              const std::string& message, Time now);

/// Returns whether all pods are of the newest template and available.
[[nodiscard]] bool is_complete(const apps::v1::Deployment& deployment,
                               const apps::v1::DeploymentStatus& status);

/// Computes the counts and the condition Available; other conditions are kept. `newest` may be
/// null; it is in `all`.
[[nodiscard]] apps::v1::DeploymentStatus count_status(
    const apps::v1::Deployment& deployment, const std::vector<const apps::v1::ReplicaSet*>& all,
    const apps::v1::ReplicaSet* newest, Time now);

/// Like count_status(), with the conditions Progressing and ReplicaFailure of a rollout.
[[nodiscard]] apps::v1::DeploymentStatus rollout_status(
    const apps::v1::Deployment& deployment, const std::vector<const apps::v1::ReplicaSet*>& all,
    const apps::v1::ReplicaSet* newest, Time now);

}  // namespace kube::testkit::detail
