// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/batch/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/label_selector.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/job_indexes.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/pod_template.hpp"

namespace kube::testkit::detail {

using batch::v1::Job;
using batch::v1::JobCondition;
using core::v1::Pod;

namespace {

constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";
constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";
constexpr std::chrono::seconds kFirstBackOff{10};
constexpr std::chrono::seconds kMostBackOff{600};

bool is_tracked(const Pod& pod) {
  return std::ranges::any_of(pod.metadata.finalizers,
                             [](const String& one) { return one == kTracking; });
}

void untrack(ClusterAccess& cluster, const Pod& pod) {
  Pod changed = pod;
  changed.metadata.finalizers.erase_if([](const String& one) { return one == kTracking; });
  try {
    cluster.update(changed);
  } catch (const ApiError& error) {
    if (!is_not_found(error)) throw;
  }
}

const JobCondition* finish_of(const Job& job) {
  for (const std::string_view type : {"Complete", "Failed"}) {
    const JobCondition* condition = find_condition(job.status.conditions, type);
    if (condition != nullptr && condition->status == "True") return condition;
  }
  return nullptr;
}

JobCondition make_condition(std::string_view type, bool value, std::string_view reason,
                            std::string_view message, Time now) {
  JobCondition condition;
  condition.type = type;
  condition.status = value ? "True" : "False";
  condition.last_probe_time = now;
  condition.last_transition_time = now;
  condition.reason = reason;
  condition.message = message;
  return condition;
}

/// Returns the time at which the last container finished, or the current time if none is recorded.
Time end_of(const Pod& pod, Time now) {
  Time end;
  for (const auto& status : pod.status.container_statuses) {
    if (status.state.terminated) end = std::max(end, status.state.terminated->finished_at);
  }
  return end.is_set() ? end : now;
}

/// One sync of one job that is not finished.
class Run {
 public:
  Run(ClusterAccess& cluster, const Job& job) : cluster_(cluster), before_(job), job_(job) {
    pods_ = claim<Pod>(cluster_, job, to_selector(job.spec.selector));
    std::ranges::copy_if(pods_, std::back_inserter(active_),
                         [](const Ref<Pod>& pod) { return is_active(*pod); });
    job_.status.uncounted_terminated_pods.ensure();
  }

  RetryAfter run() {
    if (!job_.status.start_time.is_set() && !is_suspended()) {
      job_.status.start_time = cluster_.now();
    }
    count_finished();
    RetryAfter again;
    const bool decided = has_verdict() || reach_failure();
    if (decided) {
      for (const Ref<Pod>& pod : active_) cluster_.remove(*pod);
      terminating_ += static_cast<std::int32_t>(active_.size());
      active_.clear();
      ready_ = 0;
    } else {
      ready_ = static_cast<std::int32_t>(
          std::ranges::count_if(active_, [](const Ref<Pod>& pod) { return is_ready(*pod); }));
      if (!is_deleting(job_)) again = manage();
      if (is_reached()) {
        decide("SuccessCriteriaMet", "CompletionsReached",
               "Reached expected number of succeeded pods");
      } else if (!is_deleting(job_)) {
        note_suspension();
      }
    }
    finish();
    return sooner(again, deadline());
  }

 private:
  [[nodiscard]] bool is_suspended() const { return job_.spec.suspend.value_or(false); }
  [[nodiscard]] batch::v1::UncountedTerminatedPods& uncounted() {
    return *job_.status.uncounted_terminated_pods;
  }
  [[nodiscard]] std::int32_t succeeded() {
    if (is_indexed(job_)) return static_cast<std::int32_t>(indexes_.size());
    return job_.status.succeeded + static_cast<std::int32_t>(uncounted().succeeded.size());
  }
  [[nodiscard]] std::int32_t failed() {
    return job_.status.failed + static_cast<std::int32_t>(uncounted().failed.size());
  }
  static RetryAfter sooner(RetryAfter a, RetryAfter b) {
    if (a && b) return std::min(*a, *b);
    return a ? a : b;
  }

  /// Counts the pods whose finalizer has been removed, and records newly finished pods.
  void count_finished() {
    std::set<std::string_view> tracked;
    for (const Ref<Pod>& pod : pods_) {
      if (is_tracked(*pod)) tracked.insert(pod->metadata.uid.view());
    }
    const auto is_counted = [&](const String& uid) { return !tracked.contains(uid.view()); };
    job_.status.succeeded += static_cast<std::int32_t>(uncounted().succeeded.erase_if(is_counted));
    job_.status.failed += static_cast<std::int32_t>(uncounted().failed.erase_if(is_counted));
    if (is_indexed(job_)) {
      indexes_ = parse_indexes(job_.status.completed_indexes.view(), *job_.spec.completions);
    }
    for (const Ref<Pod>& pod : pods_) {
      if (is_deleting(*pod) && !is_finished(*pod)) ++terminating_;
      if (!is_finished(*pod) || !is_tracked(*pod)) continue;
      released_.push_back(pod);
      const bool success = pod->status.phase == "Succeeded";
      const auto index = is_indexed(job_) ? index_of(*pod) : std::nullopt;
      if (success && index) {
        if (*index < *job_.spec.completions) indexes_.insert(*index);
        continue;
      }
      auto& list = success ? uncounted().succeeded : uncounted().failed;
      if (std::ranges::find(list, pod->metadata.uid) == list.end()) {
        list.push_back(pod->metadata.uid);
      }
    }
    if (is_indexed(job_)) {
      job_.status.completed_indexes = format_indexes(indexes_);
      job_.status.succeeded = static_cast<std::int32_t>(indexes_.size());
    }
  }

  [[nodiscard]] bool has_verdict() const {
    return is_condition_true(job_.status.conditions, "SuccessCriteriaMet") ||
           is_condition_true(job_.status.conditions, "FailureTarget");
  }

  void decide(std::string_view type, std::string_view reason, std::string_view message) {
    job_.status.conditions.push_back(make_condition(type, true, reason, message, cluster_.now()));
  }

  /// Marks the job as failed if a failure criterion is met. Returns whether it is.
  bool reach_failure() {
    const std::int32_t limit = job_.spec.backoff_limit.value_or(6);
    if (failed() > limit || restarts_exceed(limit)) {
      decide("FailureTarget", "BackoffLimitExceeded",
             "Job has reached the specified backoff limit");
      return true;
    }
    const auto left = deadline();
    if (left && left->count() == 0) {
      decide("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline");
      return true;
    }
    return false;
  }

  /// Returns whether restarts exceed `limit`. Containers restarted in place count as failures, too.
  [[nodiscard]] bool restarts_exceed(std::int32_t limit) const {
    if (job_.spec.template_.spec.restart_policy != "OnFailure") return false;
    std::int64_t restarts = 0;
    for (const Ref<Pod>& pod : pods_) {
      if (!is_finished(*pod)) restarts += restarts_of(*pod);
    }
    return limit == 0 ? restarts > 0 : restarts >= limit;
  }

  /// Returns the time until the active deadline; nothing if there is none.
  [[nodiscard]] RetryAfter deadline() const {
    if (!job_.spec.active_deadline_seconds || is_suspended() || !job_.status.start_time.is_set() ||
        has_verdict()) {
      return std::nullopt;
    }
    return cluster_.until(job_.status.start_time.time_point() +
                          std::chrono::seconds{*job_.spec.active_deadline_seconds});
  }

  /// Returns whether enough pods have succeeded and none is left.
  [[nodiscard]] bool is_reached() {
    if (!active_.empty()) return false;
    return job_.spec.completions ? succeeded() >= *job_.spec.completions : succeeded() > 0;
  }

  /// Creates and deletes pods to reach the desired number of active ones.
  RetryAfter manage() {
    std::int32_t wanted = job_.spec.parallelism.value_or(1);
    if (is_suspended()) {
      wanted = 0;
    } else if (job_.spec.completions) {
      wanted = std::min(wanted, *job_.spec.completions - succeeded());
    } else if (succeeded() > 0) {
      wanted = static_cast<std::int32_t>(active_.size());
    }
    const auto keep = static_cast<std::size_t>(std::max(0, wanted));
    if (active_.size() > keep) {
      sort_for_deletion(active_, active_);
      while (active_.size() > keep) {
        cluster_.remove(*active_.front());
        active_.erase(active_.begin());
        ++terminating_;
      }
      return std::nullopt;
    }
    std::size_t busy = active_.size();
    if (job_.spec.pod_replacement_policy.value_or("") == "Failed") {
      busy += static_cast<std::size_t>(terminating_);
    }
    if (busy >= keep) return std::nullopt;
    if (const auto wait = back_off(); wait && wait->count() > 0) return wait;
    create_pods(keep - busy);
    return std::nullopt;
  }

  /// Returns the back-off after failures: 10 s, doubled with each failure.
  [[nodiscard]] RetryAfter back_off() {
    Time last;
    for (const Ref<Pod>& pod : pods_) {
      if (pod->status.phase == "Failed") last = std::max(last, end_of(*pod, cluster_.now()));
    }
    const std::int32_t failures = failed();
    if (failures == 0 || !last.is_set()) return std::nullopt;
    const auto wait = std::min(kMostBackOff, kFirstBackOff * (1 << std::min(failures - 1, 10)));
    return cluster_.until(last.time_point() + wait);
  }

  void create_pods(std::size_t count) {
    std::set<std::int32_t> taken = indexes_;
    for (const Ref<Pod>& pod : active_) taken.insert(index_of(*pod).value_or(-1));
    std::int32_t index = 0;
    for (std::size_t i = 0; i < count; ++i, ++index) {
      Pod pod = pod_of_owner(job_.spec.template_, job_);
      pod.metadata.finalizers.push_back(kTracking);
      if (is_indexed(job_)) {
        while (taken.contains(index)) ++index;
        if (index >= *job_.spec.completions) return;
        set_index(pod, job_, index);
      }
      active_.push_back(cluster_.create(pod));
    }
  }

  void note_suspension() {
    const JobCondition* current = find_condition(job_.status.conditions, "Suspended");
    const bool noted = current != nullptr && current->status == "True";
    if (noted == is_suspended()) return;
    remove_condition(job_.status.conditions, "Suspended");
    job_.status.conditions.push_back(
        make_condition("Suspended", is_suspended(), is_suspended() ? "JobSuspended" : "JobResumed",
                       is_suspended() ? "Job suspended" : "Job resumed", cluster_.now()));
    // The deadline restarts when the job is resumed.
    job_.status.start_time = is_suspended() ? Time{} : cluster_.now();
  }

  /// Writes the status, then removes the finalizers of the pods recorded in it, and finishes the
  /// job when no pod is left to count.
  void finish() {
    job_.status.active = static_cast<std::int32_t>(active_.size());
    job_.status.ready = ready_;
    job_.status.terminating = terminating_;
    if (released_.empty() && terminating_ == 0 && has_verdict() && uncounted().succeeded.empty() &&
        uncounted().failed.empty() && has_verdict_stored()) {
      const bool success = is_condition_true(job_.status.conditions, "SuccessCriteriaMet");
      const JobCondition verdict =
          *find_condition(job_.status.conditions, success ? "SuccessCriteriaMet" : "FailureTarget");
      const Time now = cluster_.now();
      job_.status.conditions.push_back(make_condition(success ? "Complete" : "Failed", true,
                                                      verdict.reason.view(), verdict.message.view(),
                                                      now));
      if (success) job_.status.completion_time = now;
    }
    if (job_.status != before_.status) cluster_.update_status(job_);
    for (const Ref<Pod>& pod : released_) untrack(cluster_, *pod);
  }

  /// Returns whether the condition that precedes the final one is already stored, so that clients
  /// could observe it.
  [[nodiscard]] bool has_verdict_stored() const {
    return is_condition_true(before_.status.conditions, "SuccessCriteriaMet") ||
           is_condition_true(before_.status.conditions, "FailureTarget");
  }

  ClusterAccess& cluster_;
  const Job& before_;
  Job job_;
  PodRefs pods_;
  PodRefs active_;
  PodRefs released_;  ///< finished pods whose finalizer is removed in this sync
  std::set<std::int32_t> indexes_;
  std::int32_t terminating_ = 0;
  std::int32_t ready_ = 0;
};

/// Runs jobs: creates pods until enough have succeeded or too many have failed, and deletes the job
/// when ttlSecondsAfterFinished has expired.
///
/// A pod is counted exactly once: it keeps the finalizer `batch.kubernetes.io/job-tracking` until
/// its UID is in the status as an uncounted pod, and is counted when the finalizer is removed.
class JobController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Job>(), ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<Job> job = object.as<Job>()) {
      enqueue_object(*job, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      enqueue_controller<Job>(cluster_, *pod, enqueue);
      // Its job may have been deleted with orphaned pods.
      const String* name = pod->metadata.labels.find(kJobName);
      if (is_tracked(*pod) && name != nullptr) {
        enqueue({pod->metadata.namespace_.str(), name->str()});
      }
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Job> job = cluster_.find<Job>(key.namespace_, key.name);
    if (!job) {
      release_orphans(key);
      return std::nullopt;
    }
    if (job->spec.managed_by && *job->spec.managed_by != "kubernetes.io/job-controller") {
      return std::nullopt;
    }
    if (finish_of(*job) != nullptr) {
      for (const Ref<Pod>& pod : owned_by<Pod>(cluster_, *job)) {
        if (is_tracked(*pod)) untrack(cluster_, *pod);
      }
      return expire(*job);
    }
    if (is_deleting(*job)) {
      for (const Ref<Pod>& pod : owned_by<Pod>(cluster_, *job)) {
        if (is_deleting(*pod) && is_tracked(*pod)) untrack(cluster_, *pod);
      }
      return std::nullopt;
    }
    return Run{cluster_, *job}.run();
  }

 private:
  /// Removes the finalizers from the pods of a deleted job.
  void release_orphans(const ObjectKey& key) {
    for (const Ref<Pod>& pod : cluster_.list<Pod>(key.namespace_)) {
      if (!is_tracked(*pod)) continue;
      const auto* owner = controller_of(pod->metadata);
      const String* label = pod->metadata.labels.find(kJobName);
      const bool orphan = owner == nullptr && label != nullptr && *label == key.name;
      if (orphan || (owner != nullptr && owner->kind == "Job" && owner->name == key.name)) {
        untrack(cluster_, *pod);
      }
    }
  }

  RetryAfter expire(const Job& job) {
    if (!job.spec.ttl_seconds_after_finished || is_deleting(job)) return std::nullopt;
    const auto left = cluster_.until(finish_of(job)->last_transition_time.time_point() +
                                     std::chrono::seconds{*job.spec.ttl_seconds_after_finished});
    if (left.count() > 0) return left;
    cluster_.remove(job);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_job_controller(ClusterAccess cluster) {
  return std::make_unique<JobController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
