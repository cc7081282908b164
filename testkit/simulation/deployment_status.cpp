// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/deployment_status.hpp"

#include <kube/api/conditions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "testkit/simulation/deployment_math.hpp"

namespace kube::testkit::detail {
namespace {

using apps::v1::Deployment;
using apps::v1::DeploymentCondition;
using apps::v1::DeploymentStatus;
using apps::v1::ReplicaSet;

bool has_progressed(const DeploymentStatus& before, const DeploymentStatus& now) {
  return now.updated_replicas > before.updated_replicas ||
         now.replicas - now.updated_replicas < before.replicas - before.updated_replicas ||
         now.ready_replicas > before.ready_replicas ||
         now.available_replicas > before.available_replicas;
}

bool has_timed_out(const Deployment& deployment, const DeploymentStatus& status, Time now) {
  const DeploymentCondition* progress = find_condition(status.conditions, "Progressing");
  if (progress == nullptr || progress->reason == "NewReplicaSetAvailable") return false;
  if (progress->reason == "ProgressDeadlineExceeded") return true;
  return progress->last_update_time.unix_seconds() + progress_deadline(deployment) <
         now.unix_seconds();
}

/// Returns "ReplicaSet "web-5d59d67564"", or the deployment if it has no newest set.
std::string subject_of(const Deployment& deployment, const ReplicaSet* newest) {
  return newest != nullptr ? fmt::format("ReplicaSet \"{}\"", newest->metadata.name.view())
                           : fmt::format("Deployment \"{}\"", deployment.metadata.name.view());
}

void set_progress(const Deployment& deployment, DeploymentStatus& status, const ReplicaSet* newest,
                  Time now) {
  const DeploymentCondition* current = find_condition(deployment.status.conditions, "Progressing");
  if (status.replicas == status.updated_replicas && current != nullptr &&
      current->reason == "NewReplicaSetAvailable") {
    return;  // No rollout is in progress.
  }
  const std::string subject = subject_of(deployment, newest);
  if (is_complete(deployment, status)) {
    set_deployment_condition(status, "Progressing", "True", "NewReplicaSetAvailable",
                             subject + " has successfully progressed.", now);
  } else if (has_progressed(deployment.status, status)) {
    DeploymentCondition condition;
    condition.type = "Progressing";
    condition.status = "True";
    condition.last_update_time = now;
    condition.last_transition_time = now;
    condition.reason = "ReplicaSetUpdated";
    condition.message = subject + " is progressing.";
    if (current != nullptr && current->status == "True") {
      condition.last_transition_time = current->last_transition_time;
    }
    remove_condition(status.conditions, "Progressing");
    status.conditions.push_back(std::move(condition));
  } else if (has_timed_out(deployment, status, now)) {
    set_deployment_condition(status, "Progressing", "False", "ProgressDeadlineExceeded",
                             subject + " has timed out progressing.", now);
  }
}

/// Propagates the error of a replica set that could not create its pods. The newest set takes
/// precedence.
void set_replica_failure(DeploymentStatus& status, std::vector<const ReplicaSet*> all,
                         const ReplicaSet* newest, Time now) {
  std::ranges::stable_partition(all, [&](const ReplicaSet* set) { return set == newest; });
  for (const ReplicaSet* set : all) {
    if (const auto* failure = find_condition(set->status.conditions, "ReplicaFailure")) {
      set_deployment_condition(status, "ReplicaFailure", failure->status.view(),
                               failure->reason.view(), failure->message.str(), now);
      return;
    }
  }
  remove_condition(status.conditions, "ReplicaFailure");
}

}  // namespace

void set_deployment_condition(DeploymentStatus& status, std::string_view type,
                              std::string_view value, std::string_view reason,
                              const std::string& message, Time now) {
  DeploymentCondition condition;
  condition.type = type;
  condition.status = value;
  condition.last_update_time = now;
  condition.last_transition_time = now;
  condition.reason = reason;
  condition.message = message;
  if (const auto* current = find_condition(status.conditions, type)) {
    if (current->status == value && current->reason == reason) return;
    if (current->status == value) condition.last_transition_time = current->last_transition_time;
    remove_condition(status.conditions, type);
  }
  status.conditions.push_back(std::move(condition));
}

bool is_complete(const Deployment& deployment, const DeploymentStatus& status) {
  const std::int32_t wanted = replicas_of(deployment);
  return status.updated_replicas == wanted && status.replicas == wanted &&
         status.available_replicas == wanted &&
         status.observed_generation >= deployment.metadata.generation;
}

DeploymentStatus count_status(const Deployment& deployment,
                              const std::vector<const ReplicaSet*>& all, const ReplicaSet* newest,
                              Time now) {
  DeploymentStatus status;
  status.observed_generation = deployment.metadata.generation;
  status.collision_count = deployment.status.collision_count;
  status.conditions = deployment.status.conditions;
  std::int32_t wanted_by_sets = 0;
  std::int32_t terminating = 0;
  for (const ReplicaSet* set : all) {
    wanted_by_sets += replicas_of(*set);
    terminating += set->status.terminating_replicas.value_or(0);
    status.replicas += set->status.replicas;
    status.ready_replicas += set->status.ready_replicas;
    status.available_replicas += set->status.available_replicas;
  }
  status.terminating_replicas = terminating;
  if (newest != nullptr) status.updated_replicas = newest->status.replicas;
  status.unavailable_replicas = std::max(0, wanted_by_sets - status.available_replicas);
  const bool enough =
      status.available_replicas >= replicas_of(deployment) - max_unavailable(deployment);
  set_deployment_condition(status, "Available", enough ? "True" : "False",
                           enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                           enough ? "Deployment has minimum availability."
                                  : "Deployment does not have minimum availability.",
                           now);
  return status;
}

DeploymentStatus rollout_status(const Deployment& deployment,
                                const std::vector<const ReplicaSet*>& all, const ReplicaSet* newest,
                                Time now) {
  DeploymentStatus status = count_status(deployment, all, newest, now);
  if (progress_deadline(deployment) == INT_MAX) {
    remove_condition(status.conditions, "Progressing");
  } else {
    set_progress(deployment, status, newest, now);
  }
  set_replica_failure(status, all, newest, now);
  return status;
}

}  // namespace kube::testkit::detail
