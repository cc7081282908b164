// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/label_selector.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/pod_template.hpp"
#include "testkit/simulation/revision_history.hpp"
#include "testkit/simulation/stateful_set_pods.hpp"

namespace kube::testkit::detail {

using apps::v1::ControllerRevision;
using apps::v1::StatefulSet;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;

namespace {

constexpr std::string_view kHashLabel = "controller.kubernetes.io/hash";
constexpr std::int32_t kDefaultHistory = 10;

/// One sync of one stateful set.
class Run {
 public:
  Run(ClusterAccess& cluster, const StatefulSet& set)
      : cluster_(cluster), before_(set), set_(set), history_(cluster, set, kHashLabel) {
    pods_ = claim<Pod>(cluster_, set, to_selector(set.spec.selector));
    std::erase_if(pods_, [&](const Ref<Pod>& pod) { return ordinal_of(set, *pod) < 0; });
    for (const Ref<Pod>& pod : pods_) {
      const std::int32_t ordinal = ordinal_of(set, *pod);
      (is_wanted(ordinal) ? replicas_ : condemned_)[ordinal] = pod;
    }
  }

  RetryAfter run() {
    update_ = history_.take_current(set_.status.collision_count);
    const ControllerRevision* current = history_.find(set_.status.current_revision.view());
    current_ = current != nullptr ? *current : update_;
    if (!set_.status.collision_count) set_.status.collision_count = 0;
    set_.status.current_revision = current_.metadata.name;
    set_.status.update_revision = update_.metadata.name;
    set_.status.observed_generation = set_.metadata.generation;
    if (!is_deleting(set_)) work();
    count();
    complete_update();
    if (set_.status != before_.status) cluster_.update_status(set_);
    truncate_history();
    return next_available(pods_, set_.spec.min_ready_seconds, cluster_.wall_now());
  }

 private:
  [[nodiscard]] std::int32_t wanted() const { return set_.spec.replicas.value_or(1); }
  [[nodiscard]] bool is_wanted(std::int32_t ordinal) const {
    return ordinal >= first_ordinal(set_) && ordinal < first_ordinal(set_) + wanted();
  }
  [[nodiscard]] bool is_ordered() const { return set_.spec.pod_management_policy != "Parallel"; }
  [[nodiscard]] bool is_healthy(const Pod& pod) const {
    return pod.status.phase == "Running" && !is_deleting(pod) &&
           is_available(pod, set_.spec.min_ready_seconds, cluster_.now());
  }
  [[nodiscard]] std::int32_t partition() const {
    const auto& rolling = set_.spec.update_strategy.rolling_update;
    return rolling ? rolling->partition.value_or(0) : 0;
  }

  /// Creates missing pods, then deletes surplus ones, then updates. With the policy OrderedReady,
  /// each step waits for the previous one.
  void work() {
    for (std::int32_t i = 0; i < wanted(); ++i) {
      if (!keep_replica(first_ordinal(set_) + i) && is_ordered()) return;
    }
    if (!shrink() || set_.spec.update_strategy.type == "OnDelete") return;
    update_replicas();
  }

  /// Ensures that the pod exists. Returns false if the next ordinal has to wait for it.
  bool keep_replica(std::int32_t ordinal) {
    const auto found = replicas_.find(ordinal);
    if (found == replicas_.end()) {
      create(ordinal);
      return false;
    }
    const Pod& pod = *found->second;
    if (is_finished(pod)) {
      if (!is_deleting(pod)) cluster_.remove(pod);
      return false;
    }
    if (pod.status.phase == "Pending") create_claims(ordinal);
    return is_healthy(pod);
  }

  void create(std::int32_t ordinal) {
    create_claims(ordinal);
    const bool old = set_.spec.update_strategy.type != "OnDelete" && keeps_current(ordinal);
    const ControllerRevision& revision = old ? current_ : update_;
    pods_.push_back(cluster_.create(
        stateful_pod(set_, template_of(revision), revision.metadata.name.view(), ordinal)));
  }

  /// Returns whether a missing pod is created from the current revision instead of the update
  /// revision: below the partition, or, in order, before the update has reached it.
  [[nodiscard]] bool keeps_current(std::int32_t ordinal) const {
    const std::int32_t index = ordinal - first_ordinal(set_);
    return partition() > 0 ? index < partition() : index < before_.status.current_replicas;
  }

  void create_claims(std::int32_t ordinal) {
    for (const PersistentVolumeClaim& claim : stateful_claims(set_, ordinal)) {
      if (!cluster_.find<PersistentVolumeClaim>(claim.metadata.namespace_.view(),
                                                claim.metadata.name.view())) {
        cluster_.create(claim);
      }
    }
  }

  /// Deletes pods with surplus ordinals, the highest first. Returns false if deletions are pending.
  bool shrink() {
    for (auto it = condemned_.rbegin(); it != condemned_.rend(); ++it) {
      const auto& [ordinal, pod] = *it;
      if (!is_deleting(*pod)) {
        if (deletes_claims_when_scaled(set_)) give_claims_to(*pod, ordinal);
        cluster_.remove(*pod);
      }
      if (is_ordered()) return false;
    }
    return true;
  }

  /// Makes the pod the owner of its claims, so that they are garbage-collected with it.
  void give_claims_to(const Pod& pod, std::int32_t ordinal) {
    for (const PersistentVolumeClaim& wanted_claim : stateful_claims(set_, ordinal)) {
      const Ref<PersistentVolumeClaim> found = cluster_.find<PersistentVolumeClaim>(
          wanted_claim.metadata.namespace_.view(), wanted_claim.metadata.name.view());
      if (!found) continue;
      PersistentVolumeClaim claim = *found;
      claim.metadata.owner_references.erase_if(
          [&](const auto& reference) { return reference.uid == set_.metadata.uid; });
      set_owner_reference(pod, claim);
      cluster_.update(claim);
    }
  }

  /// Deletes the pod with the highest ordinal that is not of the update revision, if all pods above
  /// it are available.
  void update_replicas() {
    for (std::int32_t i = wanted() - 1; i >= partition(); --i) {
      const auto found = replicas_.find(first_ordinal(set_) + i);
      if (found == replicas_.end()) return;
      const Pod& pod = *found->second;
      if (revision_of(pod) != update_.metadata.name.view() && !is_deleting(pod)) {
        cluster_.remove(pod);
        return;
      }
      if (!is_healthy(pod)) return;
    }
  }

  void count() {
    auto& status = set_.status;
    status.replicas = status.ready_replicas = status.available_replicas = 0;
    status.current_replicas = status.updated_replicas = 0;
    for (const Ref<Pod>& seen : pods_) {
      // Reads the state after the writes of this sync.
      const Ref<Pod> pod =
          cluster_.find<Pod>(seen->metadata.namespace_.view(), seen->metadata.name.view());
      if (!pod || pod->metadata.uid != seen->metadata.uid) continue;
      ++status.replicas;
      if (pod->status.phase == "Running" && is_ready(*pod)) {
        ++status.ready_replicas;
        if (is_available(*pod, set_.spec.min_ready_seconds, cluster_.now())) {
          ++status.available_replicas;
        }
      }
      if (is_deleting(*pod)) continue;
      if (revision_of(*pod) == current_.metadata.name.view()) ++status.current_replicas;
      if (revision_of(*pod) == update_.metadata.name.view()) ++status.updated_replicas;
    }
  }

  void complete_update() {
    auto& status = set_.status;
    if (set_.spec.update_strategy.type == "OnDelete" || status.updated_replicas != wanted() ||
        status.ready_replicas != wanted() || status.replicas != wanted()) {
      return;
    }
    status.current_replicas = status.updated_replicas;
    status.current_revision = status.update_revision;
  }

  void truncate_history() {
    std::set<std::string> live{current_.metadata.name.str(), update_.metadata.name.str()};
    for (const Ref<Pod>& pod : pods_) live.insert(std::string{revision_of(*pod)});
    history_.truncate(set_.spec.revision_history_limit.value_or(kDefaultHistory), live);
  }

  ClusterAccess& cluster_;
  const StatefulSet& before_;
  StatefulSet set_;
  RevisionHistory history_;
  ControllerRevision update_;   ///< of the current template
  ControllerRevision current_;  ///< of the template before the rolling update
  PodRefs pods_;
  std::map<std::int32_t, Ref<Pod>> replicas_;   ///< by ordinal
  std::map<std::int32_t, Ref<Pod>> condemned_;  ///< pods with surplus ordinals
};

/// Runs stateful sets: pods with ordinals and their own claims, created, updated and deleted in
/// order.
class StatefulSetController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<StatefulSet>(), ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<StatefulSet> set = object.as<StatefulSet>()) {
      enqueue_object(*set, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      enqueue_controller<StatefulSet>(cluster_, *pod, enqueue);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<StatefulSet> set = cluster_.find<StatefulSet>(key.namespace_, key.name);
    if (!set) return std::nullopt;
    return Run{cluster_, *set}.run();
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_stateful_set_controller(ClusterAccess cluster) {
  return std::make_unique<StatefulSetController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
