// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/controller/leader_elector.hpp>

#include <kube/api/errors.hpp>
#include <kube/base/backoff.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace kube {
namespace {

constexpr double kJitter = 1.2;

LeaderElectionOptions checked(const ResourceLock* lock, LeaderElectionOptions options) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw std::invalid_argument{fmt::format("leader election: {}", what)};
  };
  constexpr Clock::Duration kNone{};
  require(lock != nullptr, "there is no lock");
  require(!lock->identity().empty(), "the identity of the lock is empty");
  require(options.lease_duration > options.renew_deadline,
          "the lease duration must be longer than the renew deadline");
  require(std::chrono::duration<double>{options.renew_deadline} >
              kJitter * std::chrono::duration<double>{options.retry_period},
          "the renew deadline must be longer than 1.2 times the retry period");
  require(options.retry_period > kNone, "the retry period must be longer than 0");
  require(options.on_started_leading != nullptr, "on_started_leading is missing");
  require(options.on_stopped_leading != nullptr, "on_stopped_leading is missing");
  return options;
}

}  // namespace

/// Calls on_new_leader, in order, without holding up the election.
class LeaderElector::Announcer {
 public:
  Announcer(const std::function<void(const std::string&)>& announce, const Logger& log)
      : announce_(announce), log_(log) {
    if (announce_) {
      thread_ = std::jthread{[this](std::stop_token stop) { deliver(std::move(stop)); }};
    }
  }
  /// Tells of `leader` unless it was the last one told of.
  void see(const std::string& leader) {
    if (leader == last_ || !announce_) return;
    std::string last = leader;
    {
      const std::lock_guard guard{mutex_};
      leaders_.push_back(leader);
    }
    last_ = std::move(last);
    changed_.notify_one();
  }

 private:
  void deliver(std::stop_token stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return !leaders_.empty(); })) {
      const std::string leader = std::move(leaders_.front());
      leaders_.pop_front();
      lock.unlock();
      try {
        announce_(leader);
      } catch (const std::exception& error) {
        log_.error("on_new_leader threw: {}", error.what());
      } catch (...) {
        log_.error("on_new_leader threw something that is no std::exception");
      }
      lock.lock();
    }
  }

  const std::function<void(const std::string&)>& announce_;
  const Logger& log_;
  std::string last_;
  std::mutex mutex_;
  Condition changed_;
  std::deque<std::string> leaders_;  // guarded by mutex_
  std::jthread thread_;              // the last member: it uses the others
};

LeaderElector::LeaderElector(std::shared_ptr<ResourceLock> lock, LeaderElectionOptions options)
    : lock_(std::move(lock)),
      options_(checked(lock_.get(), std::move(options))),
      identity_(lock_->identity()),
      lock_name_(lock_->describe()),
      log_(options_.log.named("leader election")),
      clock_(*options_.clock) {
  if (options_.name.empty()) return;
  const MetricLabels labels{{"name", options_.name}};
  master_status_ = gauge(options_.metrics, "leader_election_master_status",
                         "Whether this process leads", labels);
  slow_path_ = counter(options_.metrics, "leader_election_slowpath_total",
                       "Renewals that had to read the lease first", labels);
}

void LeaderElector::run(std::stop_token stop) {
  if (running_.exchange(true)) throw std::logic_error{"this leader elector is running already"};
  std::exception_ptr failure;
  try {
    Announcer announcer{options_.on_new_leader, log_};
    if (acquire(announcer, stop)) failure = lead(announcer, stop);
  } catch (...) {  // no memory, or no thread
    failure = std::current_exception();
  }
  master_status_.set(0);
  {
    // Nobody renews the lease any more; do not claim that we hold it.
    const std::lock_guard guard{mutex_};
    if (observed_.holder_identity == identity_) observed_ = {};
  }
  running_ = false;
  options_.on_stopped_leading();
  if (failure) std::rethrow_exception(failure);
}

bool LeaderElector::acquire(Announcer& announcer, std::stop_token stop) {
  log_.info("{} tries to acquire {}", identity_, lock_name_);
  // With jitter, so that candidates that were started together do not go on together.
  Backoff retry{{.initial = options_.retry_period, .jitter = kJitter, .random = options_.random}};
  do {
    if (stop.stop_requested()) return false;
    if (try_once(announcer, Clock::TimePoint::max(), stop) == Outcome::kHeld) return true;
  } while (retry.wait(clock_, stop));
  return false;
}

std::exception_ptr LeaderElector::lead(Announcer& announcer, std::stop_token stop) {
  log_.info("{} acquired {}", identity_, lock_name_);
  lock_->record_event(fmt::format("{} became leader", identity_));
  master_status_.set(1);
  std::exception_ptr failure;
  try {
    std::stop_source renewing;
    // After a stop, renewing goes on until the work has returned, whichever of the two is last.
    std::atomic<bool> returned = false;
    std::jthread work{[&](std::stop_token work_stop) {
      try {
        options_.on_started_leading(std::move(work_stop));
      } catch (...) {
        failure = std::current_exception();
        renewing.request_stop();
      }
      returned = true;
      if (stop.stop_requested()) renewing.request_stop();
    }};
    const std::stop_callback on_stop{stop, [&] {
                                       work.request_stop();
                                       if (returned) renewing.request_stop();
                                     }};
    renew(announcer, renewing.get_token());
    work.request_stop();
    work.join();
  } catch (...) {  // no memory, or no thread
    failure = std::current_exception();
  }
  master_status_.set(0);
  log_.info("{} stopped leading", identity_);
  lock_->record_event(fmt::format("{} stopped leading", identity_));
  if (options_.release_on_cancel) release();
  announcer.see(leader());
  return failure;
}

void LeaderElector::renew(Announcer& announcer, std::stop_token stop) {
  while (clock_.sleep_for(options_.retry_period, stop)) {
    // Others count from the last write, and not from when we heard that it was done: had the answer been
    // fast, we would have been here one retry period after it.
    const Clock::TimePoint deadline =
        std::min({clock_.now() + options_.renew_deadline,
                  written_at_ + options_.retry_period + options_.renew_deadline,
                  written_at_ + options_.lease_duration});
    if (clock_.now() >= deadline) {
      // The machine was suspended, or this thread did not run. Somebody else may lead by now.
      return log_.error("{} lost {}: it was not renewed in time", identity_, lock_name_);
    }
    for (Outcome outcome{}; (outcome = try_once(announcer, deadline, stop)) != Outcome::kHeld;) {
      if (outcome == Outcome::kFailed &&
          !clock_.sleep_until(std::min(clock_.now() + options_.retry_period, deadline), stop)) {
        return;
      }
      if (outcome == Outcome::kLost || clock_.now() >= deadline) {
        return log_.error("{} lost {} or could not renew it in time", identity_, lock_name_);
      }
    }
  }
}

void LeaderElector::release() {
  if (!is_named()) return;
  const Clock::TimePoint deadline = clock_.now() + options_.renew_deadline;
  Backoff retry{
      {.initial = std::chrono::milliseconds{10}, .jitter = 0.1, .random = options_.random}};
  do {
    try {
      const auto record = lock_->get(call(deadline, {}));
      if (!record || record->holder_identity != identity_) return;
      const MicroTime now = clock_.wall_now();
      const LeaderElectionRecord released{.lease_duration_seconds = 1,
                                          .acquire_time = now,
                                          .renew_time = now,
                                          .leader_transitions = record->leader_transitions};
      lock_->update(released, call(deadline, {}));
      return observe(released);
    } catch (const ApiError& error) {
      if (!is_conflict(error)) return log_.error("cannot release {}: {}", lock_name_, error.what());
    } catch (const std::exception& error) {
      return log_.error("cannot release {}: {}", lock_name_, error.what());
    } catch (...) {
      return log_.error("cannot release {}: the lock threw something that is no std::exception",
                        lock_name_);
    }
  } while (clock_.now() < deadline && retry.wait(clock_, {}));
}

LeaderElector::Outcome LeaderElector::try_once(Announcer& announcer, Clock::TimePoint deadline,
                                               std::stop_token stop) {
  Outcome outcome = Outcome::kFailed;
  const auto reporting = [&](const auto& action) {
    try {
      action();
    } catch (const std::exception& error) {
      if (stop.stop_requested()) {
        log_.debug("{}: {}", lock_name_, error.what());  // the call was canceled
      } else {
        log_.warning("{}: {}", lock_name_, error.what());
      }
    } catch (...) {
      log_.warning("{}: the lock threw something that is no std::exception", lock_name_);
    }
  };
  reporting([&] {
    outcome =
        options_.coordinated ? renew_coordinated(deadline, stop) : acquire_or_renew(deadline, stop);
  });
  reporting([&] { announcer.see(leader()); });
  // What comes after the deadline comes too late.
  return outcome == Outcome::kHeld && clock_.now() > deadline ? Outcome::kFailed : outcome;
}

LeaderElector::Outcome LeaderElector::acquire_or_renew(Clock::TimePoint deadline,
                                                       std::stop_token stop) {
  LeaderElectionRecord record = own_record();
  if (is_named() && is_valid()) {
    try {
      return write(continued(observed()), deadline, stop);
    } catch (const std::exception& error) {
      log_.info("cannot renew {} without reading it: {}", lock_name_, error.what());
    }
  }
  const auto found = lock_->get(call(deadline, stop));
  if (!found) {
    const Clock::TimePoint now = clock_.now();
    lock_->create(record, call(deadline, stop));
    return written(record, now);
  }
  if (*found != observed()) observe(*found);
  if (is_named()) {
    slow_path_.add();
    return write(continued(*found), deadline, stop);
  }
  if (!found->holder_identity.empty() && is_valid()) return Outcome::kLost;
  record.leader_transitions =
      std::min(found->leader_transitions, std::numeric_limits<int>::max() - 1) + 1;
  return write(record, deadline, stop);
}

LeaderElector::Outcome LeaderElector::renew_coordinated(Clock::TimePoint deadline,
                                                        std::stop_token stop) {
  const auto found = lock_->get(call(deadline, stop));
  if (!found) return Outcome::kFailed;
  if (*found != observed()) observe(*found);
  if (!is_named() || !is_valid()) return Outcome::kLost;
  if (!found->preferred_holder.empty()) {
    log_.info("{} shall lead in our place", found->preferred_holder);
    return Outcome::kLost;
  }
  return write(continued(*found), deadline, stop);
}

LeaderElector::Outcome LeaderElector::write(const LeaderElectionRecord& record,
                                            Clock::TimePoint deadline, std::stop_token stop) {
  const Clock::TimePoint now = clock_.now();
  lock_->update(record, call(deadline, std::move(stop)));
  return written(record, now);
}

LeaderElector::Outcome LeaderElector::written(const LeaderElectionRecord& record,
                                              Clock::TimePoint at) {
  written_at_ = at;
  observe(record);
  const std::lock_guard guard{mutex_};
  held_until_ = at + options_.lease_duration;
  return Outcome::kHeld;
}

LockCall LeaderElector::call(Clock::TimePoint deadline, std::stop_token stop) const {
  const Clock::Duration timeout = election_request_timeout(options_.renew_deadline);
  return {.timeout = std::min(deadline - clock_.now(), timeout), .stop = std::move(stop)};
}

LeaderElectionRecord LeaderElector::own_record() const {
  const MicroTime now = clock_.wall_now();
  return {.holder_identity = identity_,
          .lease_duration_seconds = static_cast<int>(
              std::chrono::ceil<std::chrono::seconds>(options_.lease_duration).count()),
          .acquire_time = now,
          .renew_time = now};
}

LeaderElectionRecord LeaderElector::continued(const LeaderElectionRecord& term) const {
  LeaderElectionRecord record = own_record();
  record.acquire_time = term.acquire_time;
  record.leader_transitions = term.leader_transitions;
  record.strategy = term.strategy;
  return record;
}

LeaderElectionRecord LeaderElector::observed() const {
  const std::lock_guard guard{mutex_};
  return observed_;
}

void LeaderElector::observe(const LeaderElectionRecord& record) {
  const std::lock_guard guard{mutex_};
  observed_ = record;
  observed_at_ = clock_.now();
}

bool LeaderElector::is_valid() const {
  const std::lock_guard guard{mutex_};
  return clock_.now() < observed_at_ + std::chrono::seconds{observed_.lease_duration_seconds};
}

bool LeaderElector::is_named() const {
  const std::lock_guard guard{mutex_};
  return observed_.holder_identity == identity_;
}

bool LeaderElector::is_leader() const {
  const std::lock_guard guard{mutex_};
  return observed_.holder_identity == identity_ && clock_.now() < held_until_;
}

std::string LeaderElector::leader() const {
  const std::lock_guard guard{mutex_};
  return observed_.holder_identity;
}

std::optional<std::string> LeaderElector::health_problem(Clock::Duration tolerance) const {
  {
    const std::lock_guard guard{mutex_};
    if (observed_.holder_identity != identity_ ||
        clock_.now() - observed_at_ <= options_.lease_duration + tolerance) {
      return std::nullopt;
    }
  }
  return fmt::format("{} leads, but could not renew {} in time", identity_, lock_name_);
}

Clock::Duration election_request_timeout(Clock::Duration renew_deadline) noexcept {
  return std::max<Clock::Duration>(std::chrono::seconds{1}, renew_deadline / 2);
}

}  // namespace kube
