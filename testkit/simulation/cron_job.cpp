// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/batch/v1.hpp>
#include <kube/api/conditions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/time_zone.hpp"
#include "testkit/validation/cron_schedule.hpp"

namespace kube::testkit::detail {

using batch::v1::CronJob;
using batch::v1::Job;
using std::chrono::sys_seconds;

namespace {

constexpr std::string_view kScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";

bool has_ended(const Job& job, std::string_view how) {
  return is_condition_true(job.status.conditions, how);
}

sys_seconds seconds_of(Time time) { return sys_seconds{std::chrono::seconds{time.unix_seconds()}}; }

/// Formats a time as RFC 3339 with the offset of the zone: 2026-01-01T03:00:00+01:00.
std::string local_text(sys_seconds time, std::chrono::seconds offset) {
  std::string text = Time{time + offset}.str();
  if (offset.count() == 0) return text;
  text.pop_back();
  const auto minutes = std::chrono::abs(std::chrono::duration_cast<std::chrono::minutes>(offset));
  return fmt::format("{}{}{:02}:{:02}", text, offset.count() < 0 ? '-' : '+', minutes.count() / 60,
                     minutes.count() % 60);
}

/// One sync of one cron job.
class Run {
 public:
  Run(ClusterAccess& cluster, const CronJob& cron)
      : cluster_(cluster),
        before_(cron),
        cron_(cron),
        schedule_(CronSchedule::parse(cron.spec.schedule.view())),
        zone_(TimeZone::load(cron.spec.time_zone.value_or(""))),
        now_(std::chrono::floor<std::chrono::seconds>(cluster.wall_now())) {
    jobs_ = owned_by<Job>(cluster_, cron);
  }

  RetryAfter run() {
    note_finished();
    delete_old("Complete", cron_.spec.successful_jobs_history_limit.value_or(3));
    delete_old("Failed", cron_.spec.failed_jobs_history_limit.value_or(1));
    RetryAfter again;
    if (!is_deleting(cron_) && !cron_.spec.suspend.value_or(false) && schedule_.problem().empty()) {
      if (const auto due = due_time()) start(*due);
      again = until_next();
    }
    if (cron_.status != before_.status) cluster_.update_status(cron_);
    return again;
  }

 private:
  [[nodiscard]] std::optional<sys_seconds> next(sys_seconds after) const {
    return schedule_.next(after, [&](sys_seconds time) { return zone_.offset(time); });
  }
  [[nodiscard]] sys_seconds last_schedule() const {
    return seconds_of(cron_.status.last_schedule_time.is_set() ? cron_.status.last_schedule_time
                                                               : cron_.metadata.creation_timestamp);
  }

  /// Removes jobs that have finished or are deleted from the list of active jobs.
  void note_finished() {
    for (const Ref<Job>& job : jobs_) {
      if (!has_ended(*job, "Complete")) continue;
      const Time end = job->status.completion_time;
      if (end.is_set() && cron_.status.last_successful_time < end) {
        cron_.status.last_successful_time = end;
      }
    }
    cron_.status.active.erase_if([&](const core::v1::ObjectReference& reference) {
      const auto found = std::ranges::find_if(
          jobs_, [&](const Ref<Job>& job) { return job->metadata.uid == reference.uid; });
      return found == jobs_.end() || has_ended(**found, "Complete") || has_ended(**found, "Failed");
    });
  }

  void delete_old(std::string_view how, std::int32_t limit) {
    std::vector<Ref<Job>> ended;
    std::ranges::copy_if(jobs_, std::back_inserter(ended),
                         [&](const Ref<Job>& job) { return has_ended(*job, how); });
    std::ranges::sort(ended, {}, [](const Ref<Job>& job) {
      return std::pair{job->status.start_time, job->metadata.name.view()};
    });
    for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < ended.size(); ++i) {
      if (!is_deleting(*ended[i])) cluster_.remove(*ended[i]);
    }
  }

  /// Returns the most recent scheduled time since the last job was created; earlier missed times
  /// are skipped.
  [[nodiscard]] std::optional<sys_seconds> due_time() const {
    sys_seconds earliest = last_schedule();
    if (cron_.spec.starting_deadline_seconds) {
      earliest =
          std::max(earliest, now_ - std::chrono::seconds{*cron_.spec.starting_deadline_seconds});
    }
    if (const auto every = schedule_.interval(); every.count() > 0) {
      const auto runs = (now_ - earliest) / every;
      return runs > 0 ? std::optional{earliest + runs * every} : std::nullopt;
    }
    // The search window doubles until it contains a scheduled time, so that a long pause does not
    // cause a long search.
    std::chrono::seconds back{60};
    for (;;) {
      const sys_seconds from = std::max(earliest, now_ - back);
      std::optional<sys_seconds> last;
      for (auto time = next(from); time && *time <= now_; time = next(*time)) last = time;
      if (last || from == earliest) return last;
      back *= 2;
    }
  }

  void start(sys_seconds at) {
    const std::string name =
        fmt::format("{}-{}", cron_.metadata.name.view(), at.time_since_epoch().count() / 60);
    if (cron_.spec.concurrency_policy == "Forbid" && !cron_.status.active.empty()) return;
    if (cron_.spec.concurrency_policy == "Replace") {
      for (const Ref<Job>& job : jobs_) {
        const bool active = std::ranges::any_of(
            std::as_const(cron_).status.active,
            [&](const auto& reference) { return reference.uid == job->metadata.uid; });
        if (active) cluster_.remove(*job);
      }
      cron_.status.active.reset();
    }
    Ref<Job> job = cluster_.find<Job>(cron_.metadata.namespace_.view(), name);
    if (!job) job = cluster_.create(make_job(name, at));
    cron_.status.last_schedule_time = Time{at};
    if (!is_controlled_by(*job, cron_)) return;
    auto& reference = cron_.status.active.emplace_back();
    reference.api_version = "batch/v1";
    reference.kind = "Job";
    reference.namespace_ = job->metadata.namespace_;
    reference.name = job->metadata.name;
    reference.uid = job->metadata.uid;
    reference.resource_version = job->metadata.resource_version;
  }

  [[nodiscard]] Job make_job(const std::string& name, sys_seconds at) const {
    Job job;
    job.metadata.namespace_ = cron_.metadata.namespace_;
    job.metadata.name = name;
    job.metadata.labels = cron_.spec.job_template.metadata.labels;
    job.metadata.annotations = cron_.spec.job_template.metadata.annotations;
    job.metadata.annotations[kScheduledAt] = local_text(at, zone_.offset(at));
    job.spec = cron_.spec.job_template.spec;
    set_controller_reference(cron_, job);
    return job;
  }

  [[nodiscard]] RetryAfter until_next() const {
    const auto every = schedule_.interval();
    const auto time = every.count() > 0
                          ? last_schedule() + ((now_ - last_schedule()) / every + 1) * every
                          : next(now_);
    return time ? RetryAfter{cluster_.until(*time)} : std::nullopt;
  }

  ClusterAccess& cluster_;
  const CronJob& before_;
  CronJob cron_;
  const CronSchedule schedule_;
  const TimeZone zone_;
  const sys_seconds now_;
  std::vector<Ref<Job>> jobs_;
};

/// Creates the jobs of cron jobs on schedule, and deletes old ones.
class CronJobController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<CronJob>(), ClusterAccess::resource<Job>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<CronJob> cron = object.as<CronJob>()) {
      enqueue_object(*cron, enqueue);
    } else if (const Ref<Job> job = object.as<Job>()) {
      const auto* owner = controller_of(job->metadata);
      if (owner != nullptr && owner->kind == "CronJob") {
        enqueue({job->metadata.namespace_.str(), owner->name.str()});
      }
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<CronJob> cron = cluster_.find<CronJob>(key.namespace_, key.name);
    if (!cron) return std::nullopt;
    return Run{cluster_, *cron}.run();
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_cron_job_controller(ClusterAccess cluster) {
  return std::make_unique<CronJobController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
