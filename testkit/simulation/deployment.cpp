// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/label_selector.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/deployment_math.hpp"
#include "testkit/simulation/deployment_status.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_template.hpp"

namespace kube::testkit::detail {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using core::v1::Pod;

namespace {

constexpr std::size_t kMostName = 253;

bool is_older(const ReplicaSet& a, const ReplicaSet& b) {
  return std::pair{a.metadata.creation_timestamp, a.metadata.name.view()} <
         std::pair{b.metadata.creation_timestamp, b.metadata.name.view()};
}

std::int32_t total_size(const std::vector<ReplicaSet*>& sets) {
  std::int32_t total = 0;
  for (const ReplicaSet* set : sets) total += replicas_of(*set);
  return total;
}

/// One sync of one deployment.
class Rollout {
 public:
  Rollout(ClusterAccess& cluster, Deployment deployment)
      : cluster_(cluster), deployment_(std::move(deployment)) {
    for (const Ref<ReplicaSet>& set :
         claim<ReplicaSet>(cluster_, deployment_, to_selector(deployment_.spec.selector))) {
      sets_.push_back(*set);
    }
    std::ranges::sort(sets_, is_older);
  }

  RetryAfter run() {
    find_newest();
    if (is_deleting(deployment_)) {
      write_status(count_status(deployment_, pointers(), newest_set(), cluster_.now()));
      return std::nullopt;
    }
    note_pause();
    if (newest_) keep_revision();
    if (deployment_.spec.paused || is_scaled()) {
      scale();
      if (deployment_.spec.paused) clean_up();
      write_status(count_status(deployment_, pointers(), newest_set(), cluster_.now()));
      return std::nullopt;
    }
    if (is_recreate(deployment_)) {
      recreate();
    } else {
      roll();
    }
    return finish();
  }

 private:
  [[nodiscard]] ReplicaSet* newest_set() { return newest_ ? &sets_[*newest_] : nullptr; }
  [[nodiscard]] std::vector<const ReplicaSet*> pointers() const {
    std::vector<const ReplicaSet*> all;
    for (const ReplicaSet& set : sets_) all.push_back(&set);
    return all;
  }
  /// Returns the replica sets of older templates, oldest first.
  [[nodiscard]] std::vector<ReplicaSet*> old_sets() {
    std::vector<ReplicaSet*> old;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (i != newest_) old.push_back(&sets_[i]);
    }
    return old;
  }
  [[nodiscard]] std::vector<ReplicaSet*> active_sets() {
    std::vector<ReplicaSet*> active;
    for (ReplicaSet& set : sets_) {
      if (replicas_of(set) > 0) active.push_back(&set);
    }
    return active;
  }

  void find_newest() {
    const auto found = std::ranges::find_if(sets_, [&](const ReplicaSet& set) {
      return same_template(set.spec.template_, deployment_.spec.template_);
    });
    if (found != sets_.end()) newest_ = static_cast<std::size_t>(found - sets_.begin());
  }

  [[nodiscard]] bool has_deadline() const { return progress_deadline(deployment_) != INT_MAX; }

  void write_status(apps::v1::DeploymentStatus status) {
    if (status == deployment_.status) return;
    deployment_.status = std::move(status);
    deployment_ = *cluster_.update_status(deployment_);
  }

  /// Sets the condition for a paused or resumed deployment. The time of the pause does not count
  /// towards the progress deadline.
  void note_pause() {
    if (!has_deadline()) return;
    const auto* progress = find_condition(deployment_.status.conditions, "Progressing");
    if (progress != nullptr && progress->reason == "ProgressDeadlineExceeded") return;
    const bool noted = progress != nullptr && progress->reason == "DeploymentPaused";
    if (noted == deployment_.spec.paused) return;
    apps::v1::DeploymentStatus status = deployment_.status;
    set_deployment_condition(
        status, "Progressing", "Unknown", noted ? "DeploymentResumed" : "DeploymentPaused",
        noted ? "Deployment is resumed" : "Deployment is paused", cluster_.now());
    write_status(std::move(status));
  }

  [[nodiscard]] std::int64_t next_revision() {
    std::int64_t highest = 0;
    for (const ReplicaSet* set : old_sets()) highest = std::max(highest, revision_of(*set));
    return highest + 1;
  }

  /// Gives the highest revision to the newest set. After a rollback this is an older set whose
  /// template is in use again.
  void keep_revision() {
    ReplicaSet& set = *newest_set();
    const bool annotated = annotate_newest(deployment_, set, next_revision());
    if (annotated || set.spec.min_ready_seconds != deployment_.spec.min_ready_seconds) {
      set.spec.min_ready_seconds = deployment_.spec.min_ready_seconds;
      set = *cluster_.update(set);
    }
    note_revision(revision_of(set));
    if (has_deadline() && find_condition(deployment_.status.conditions, "Progressing") == nullptr) {
      note_progress("FoundNewReplicaSet",
                    fmt::format("Found new replica set \"{}\"", set.metadata.name.view()));
    }
  }

  void note_revision(std::int64_t revision) {
    const std::string text = std::to_string(revision);
    const String* current =
        std::as_const(deployment_).metadata.annotations.find(kRevisionAnnotation);
    if (current != nullptr && *current == text) return;
    deployment_.metadata.annotations[kRevisionAnnotation] = text;
    deployment_ = *cluster_.update(deployment_);
  }

  void note_progress(std::string_view reason, const std::string& message,
                     std::string_view value = "True") {
    apps::v1::DeploymentStatus status = deployment_.status;
    set_deployment_condition(status, "Progressing", value, reason, message, cluster_.now());
    write_status(std::move(status));
  }

  void create_newest() {
    const std::string hash =
        template_hash(deployment_.spec.template_, deployment_.status.collision_count);
    const std::int64_t revision = next_revision();
    ReplicaSet set;
    set.metadata.namespace_ = deployment_.metadata.namespace_;
    set.metadata.name =
        deployment_.metadata.name.str().substr(0, kMostName - 1 - hash.size()) + '-' + hash;
    set.spec.template_ = deployment_.spec.template_;
    set.spec.template_.metadata.labels[kTemplateHashLabel] = hash;
    set.metadata.labels = set.spec.template_.metadata.labels;
    set.spec.selector = deployment_.spec.selector;
    set.spec.selector.ensure().match_labels[kTemplateHashLabel] = hash;
    set.spec.min_ready_seconds = deployment_.spec.min_ready_seconds;
    set.spec.replicas = next_size_of_newest(deployment_, total_size(active_sets()), 0);
    set_controller_reference(deployment_, set);
    annotate_newest(deployment_, set, revision);
    annotate_size(deployment_, set);
    try {
      sets_.push_back(*cluster_.create(set));
    } catch (const ApiError& error) {
      if (is_already_exists(error)) {
        // Hash collision with another template: the next attempt adds a collision count to the
        // hash.
        apps::v1::DeploymentStatus status = deployment_.status;
        status.collision_count = status.collision_count.value_or(0) + 1;
        write_status(std::move(status));
      } else if (has_deadline()) {
        note_progress("ReplicaSetCreateError",
                      fmt::format("Failed to create new replica set \"{}\": {}",
                                  set.metadata.name.view(), error.status().message.view()),
                      "False");
      }
      throw;
    }
    newest_ = sets_.size() - 1;
    note_revision(revision);
    if (has_deadline()) {
      note_progress("NewReplicaSetCreated",
                    fmt::format("Created new replica set \"{}\"", set.metadata.name.view()));
    }
  }

  /// Returns whether the desired number of replicas has changed since the active sets were scaled.
  [[nodiscard]] bool is_scaled() {
    return std::ranges::any_of(active_sets(), [&](const ReplicaSet* set) {
      const std::int64_t desired = number_annotation(*set, kDesiredReplicasAnnotation);
      return desired >= 0 && desired != replicas_of(deployment_);
    });
  }

  /// Scales a set; `force` also updates its annotations. Returns whether the size changed.
  bool resize(ReplicaSet& set, std::int32_t size, bool force = false) {
    const bool sized = replicas_of(set) != size;
    if (!sized && !force) return false;
    const bool annotated = annotate_size(deployment_, set);
    set.spec.replicas = size;
    if (sized || annotated) set = *cluster_.update(set);
    return sized;
  }

  /// Scales without a rollout: the only active set, or all active sets in proportion to their
  /// sizes.
  void scale() {
    const std::vector<ReplicaSet*> active = active_sets();
    const std::int32_t wanted = replicas_of(deployment_);
    if (active.size() <= 1) {
      ReplicaSet* only = !active.empty() ? active.front() : newest_set();
      if (only == nullptr && !sets_.empty()) only = &sets_.back();
      if (only != nullptr) resize(*only, wanted, true);
      return;
    }
    if (const ReplicaSet* newest = newest_set();
        newest != nullptr && replicas_of(*newest) == wanted &&
        number_annotation(*newest, kDesiredReplicasAnnotation) == wanted &&
        newest->status.available_replicas == wanted) {
      for (ReplicaSet* old : old_sets()) resize(*old, 0);
      return;
    }
    if (!is_recreate(deployment_)) scale_in_proportion(active);
  }

  void scale_in_proportion(std::vector<ReplicaSet*> active) {
    const std::int32_t wanted = replicas_of(deployment_);
    const std::int32_t allowed = wanted > 0 ? wanted + max_surge(deployment_) : 0;
    const std::int32_t to_add = allowed - total_size(active);
    std::ranges::stable_sort(active, [&](const ReplicaSet* a, const ReplicaSet* b) {
      if (replicas_of(*a) != replicas_of(*b)) return replicas_of(*a) > replicas_of(*b);
      return to_add > 0 ? is_older(*b, *a) : is_older(*a, *b);
    });
    std::vector<std::int32_t> sizes;
    std::int32_t added = 0;
    for (const ReplicaSet* set : active) {
      const std::int32_t part = proportion_of(deployment_, *set, to_add, added);
      sizes.push_back(replicas_of(*set) + part);
      added += part;
    }
    sizes.front() = std::max(0, sizes.front() + to_add - added);
    for (std::size_t i = 0; i < active.size(); ++i) resize(*active[i], sizes[i], true);
  }

  void recreate() {
    bool scaled = false;
    for (ReplicaSet* old : old_sets()) scaled = resize(*old, 0) || scaled;
    if (scaled || has_old_pods()) return;
    if (!newest_) create_newest();
    resize(*newest_set(), replicas_of(deployment_));
  }

  /// Returns whether unfinished pods of older templates remain.
  [[nodiscard]] bool has_old_pods() {
    for (const ReplicaSet* old : old_sets()) {
      if (old->status.replicas > 0) return true;
      for (const Ref<Pod>& pod : owned_by<Pod>(cluster_, *old)) {
        if (!is_finished(*pod)) return true;
      }
    }
    return false;
  }

  void roll() {
    if (!newest_) create_newest();
    const std::int32_t wanted = replicas_of(deployment_);
    const std::int32_t current = replicas_of(*newest_set());
    if (current != wanted) {
      const std::int32_t next =
          current > wanted ? wanted
                           : next_size_of_newest(deployment_, total_size(active_sets()), current);
      if (resize(*newest_set(), next)) return;
    }
    shrink_old_sets();
  }

  /// Scales down older sets: unavailable pods first, then as many as maxUnavailable permits.
  void shrink_old_sets() {
    const std::int32_t least = replicas_of(deployment_) - max_unavailable(deployment_);
    const ReplicaSet& newest = *newest_set();
    std::int32_t unhealthy = total_size(active_sets()) - least -
                             (replicas_of(newest) - newest.status.available_replicas);
    if (unhealthy <= 0) return;
    for (ReplicaSet* old : old_sets()) {
      const std::int32_t surplus =
          std::min(unhealthy, replicas_of(*old) - old->status.available_replicas);
      if (surplus <= 0) continue;
      resize(*old, replicas_of(*old) - surplus);
      unhealthy -= surplus;
    }
    std::int32_t available = -least;
    for (const ReplicaSet& set : sets_) available += set.status.available_replicas;
    for (ReplicaSet* old : old_sets()) {
      const std::int32_t surplus = std::min(available, replicas_of(*old));
      if (surplus <= 0) continue;
      resize(*old, replicas_of(*old) - surplus);
      available -= surplus;
    }
  }

  /// Deletes the oldest empty sets beyond the history limit.
  void clean_up() {
    std::vector<ReplicaSet*> old = old_sets();
    std::erase_if(old, [](const ReplicaSet* set) { return is_deleting(*set); });
    std::ranges::stable_sort(old, {}, [](const ReplicaSet* set) { return revision_of(*set); });
    const auto limit =
        static_cast<std::size_t>(deployment_.spec.revision_history_limit.value_or(INT_MAX));
    for (std::size_t i = 0; i + limit < old.size(); ++i) {
      const ReplicaSet& set = *old[i];
      if (set.status.replicas == 0 && replicas_of(set) == 0 &&
          set.metadata.generation <= set.status.observed_generation) {
        cluster_.remove(set);
      }
    }
  }

  RetryAfter finish() {
    if (is_complete(deployment_, deployment_.status)) clean_up();
    write_status(rollout_status(deployment_, pointers(), newest_set(), cluster_.now()));
    const auto* progress = find_condition(deployment_.status.conditions, "Progressing");
    if (!has_deadline() || progress == nullptr || is_complete(deployment_, deployment_.status) ||
        progress->reason == "ProgressDeadlineExceeded") {
      return std::nullopt;
    }
    // One second is added because times in objects have no fraction.
    const std::chrono::seconds wait{progress_deadline(deployment_)};
    return cluster_.until(progress->last_update_time.time_point() + wait) + std::chrono::seconds{1};
  }

  ClusterAccess& cluster_;
  Deployment deployment_;
  ReplicaSets sets_;  ///< oldest first
  std::optional<std::size_t> newest_;
};

/// Rolls out deployments: creates a ReplicaSet per template, moves pods from the old sets to the
/// newest one within the bounds of the strategy, and keeps revisions for rollbacks.
class DeploymentController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Deployment>(), ClusterAccess::resource<ReplicaSet>(),
            ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<Deployment> deployment = object.as<Deployment>()) {
      enqueue_object(*deployment, enqueue);
    } else if (const Ref<ReplicaSet> set = object.as<ReplicaSet>()) {
      enqueue_controller<Deployment>(cluster_, *set, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      // A Recreate rollout waits until the last pod of an older template is deleted or finished.
      const auto* owner = controller_of(pod->metadata);
      if (owner == nullptr || owner->kind != "ReplicaSet") return;
      const Ref<ReplicaSet> owning =
          cluster_.find<ReplicaSet>(pod->metadata.namespace_.view(), owner->name.view());
      if (!owning || controller_of(owning->metadata) == nullptr) return;
      const ObjectKey key{pod->metadata.namespace_.str(),
                          controller_of(owning->metadata)->name.str()};
      const Ref<Deployment> top = cluster_.find<Deployment>(key.namespace_, key.name);
      if (top && is_recreate(*top)) enqueue(key);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Deployment> found = cluster_.find<Deployment>(key.namespace_, key.name);
    if (!found) return std::nullopt;
    // A selector that matches everything would adopt every pod.
    if (to_selector(found->spec.selector).matches_everything()) return std::nullopt;
    return Rollout{cluster_, *found}.run();
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_deployment_controller(ClusterAccess cluster) {
  return std::make_unique<DeploymentController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
