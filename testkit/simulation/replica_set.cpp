// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/label_selector.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/pod_template.hpp"

namespace kube::testkit::detail {

namespace {

using apps::v1::ReplicaSet;
using core::v1::Pod;
using core::v1::ResourceQuota;

constexpr std::string_view kReplicaFailure = "ReplicaFailure";
/// Rejected pods are retried after this time, because quotas and other policies may have changed.
constexpr std::chrono::seconds kRetryRefused{30};

void set_failure(apps::v1::ReplicaSetStatus& status, const std::string& failure, bool too_few,
                 Time now) {
  if (failure.empty()) {
    remove_condition(status.conditions, kReplicaFailure);
    return;
  }
  if (find_condition(status.conditions, kReplicaFailure) != nullptr) return;
  apps::v1::ReplicaSetCondition condition;
  condition.type = kReplicaFailure;
  condition.status = "True";
  condition.last_transition_time = now;
  condition.reason = too_few ? "FailedCreate" : "FailedDelete";
  condition.message = failure;
  status.conditions.push_back(std::move(condition));
}

apps::v1::ReplicaSetStatus status_of(const ReplicaSet& set, const PodRefs& active,
                                     std::int32_t terminating, Time now) {
  apps::v1::ReplicaSetStatus status = set.status;
  status.replicas = static_cast<std::int32_t>(active.size());
  status.fully_labeled_replicas = 0;
  status.ready_replicas = 0;
  status.available_replicas = 0;
  status.terminating_replicas = terminating;
  status.observed_generation = set.metadata.generation;
  const auto labels = labels::Selector::from_valid_set(set.spec.template_.metadata.labels);
  for (const Ref<Pod>& pod : active) {
    if (labels.matches(pod->metadata.labels)) ++status.fully_labeled_replicas;
    if (is_ready(*pod)) ++status.ready_replicas;
    if (is_available(*pod, set.spec.min_ready_seconds, now)) ++status.available_replicas;
  }
  return status;
}

/// Maintains the desired number of pods of a ReplicaSet.
class ReplicaSetController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<ReplicaSet>(), ClusterAccess::resource<Pod>(),
            ClusterAccess::resource<ResourceQuota>()};
  }

  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<ReplicaSet> set = object.as<ReplicaSet>()) {
      enqueue_object(*set, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      enqueue_controller<ReplicaSet>(cluster_, *pod, enqueue);
    } else if (resource == ClusterAccess::resource<ResourceQuota>()) {
      // Quota may be available now for pods that were rejected.
      for (const Ref<ReplicaSet>& one :
           cluster_.list<ReplicaSet>(object.metadata_text("namespace"))) {
        if (find_condition(one->status.conditions, kReplicaFailure) != nullptr) {
          enqueue_object(*one, enqueue);
        }
      }
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<ReplicaSet> found = cluster_.find<ReplicaSet>(key.namespace_, key.name);
    if (!found) return std::nullopt;
    PodRefs pods = claim<Pod>(cluster_, *found, to_selector(found->spec.selector));
    const auto terminating = static_cast<std::int32_t>(std::ranges::count_if(
        pods, [](const Ref<Pod>& pod) { return is_deleting(*pod) && !is_finished(*pod); }));
    std::erase_if(pods, [](const Ref<Pod>& pod) { return !is_active(*pod); });

    std::string failure;
    if (!is_deleting(*found)) failure = manage(*found, pods);
    const Time now = cluster_.now();
    ReplicaSet set = *found;
    set.status = status_of(*found, pods, terminating, now);
    set_failure(set.status, failure,
                static_cast<std::int64_t>(pods.size()) < found->spec.replicas.value_or(1), now);
    if (set.status != found->status) cluster_.update_status(set);
    if (!failure.empty()) return kRetryRefused;
    return next_available(pods, found->spec.min_ready_seconds, cluster_.wall_now());
  }

 private:
  /// Creates or deletes pods. Returns the reason if a pod was rejected; else empty.
  std::string manage(const ReplicaSet& set, PodRefs active) {
    const auto wanted = static_cast<std::size_t>(std::max(0, set.spec.replicas.value_or(1)));
    for (std::size_t have = active.size(); have < wanted; ++have) {
      try {
        cluster_.create(pod_of_owner(set.spec.template_, set));
      } catch (const ApiError& error) {
        if (!is_forbidden(error) && !is_invalid(error)) throw;
        return error.status().message.str();
      }
    }
    if (active.size() <= wanted) return {};
    sort_for_deletion(active, pods_of_siblings(set));
    for (std::size_t i = 0; i + wanted < active.size(); ++i) cluster_.remove(*active[i]);
    return {};
  }

  [[nodiscard]] PodRefs pods_of_siblings(const ReplicaSet& set) const {
    std::set<std::string> uids{set.metadata.uid.str()};
    const auto* owner = controller_of(set.metadata);
    for (const Ref<ReplicaSet>& other : cluster_.list<ReplicaSet>(set.metadata.namespace_.view())) {
      const auto* controller = controller_of(other->metadata);
      if (owner != nullptr && controller != nullptr && controller->uid == owner->uid) {
        uids.insert(other->metadata.uid.str());
      }
    }
    PodRefs pods = cluster_.list<Pod>(set.metadata.namespace_.view());
    std::erase_if(pods, [&](const Ref<Pod>& pod) {
      const auto* controller = controller_of(pod->metadata);
      return controller == nullptr || !uids.contains(controller->uid.str());
    });
    return pods;
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_replica_set_controller(ClusterAccess cluster) {
  return std::make_unique<ReplicaSetController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
