// SPDX-License-Identifier: Apache-2.0
#include "election.hpp"

#include <kube/api/errors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace kube::detail {

namespace {

constexpr double kJitter = 1.2;
constexpr std::chrono::milliseconds kReleaseRetry{10};

using Outcome = ElectionTry::Outcome;

}  // namespace

Election::Election(ElectionContext context, std::shared_ptr<DeferredCalls> announcements)
    : Job(Placement::kLoop),
      context_(std::move(context)),
      announcements_(std::move(announcements)),
      clock_(context_.clock()),
      // With jitter, so that candidates started together do not retry together.
      acquire_retry_({.initial = context_.options.retry_period,
                      .jitter = kJitter,
                      .random = context_.options.random}),
      release_retry_({.initial = kReleaseRetry, .jitter = 0.1, .random = context_.options.random}) {
  const std::shared_ptr<Scheduler>& scheduler = Inside::core(*context_.lock->runtime());
  timer_.emplace(scheduler, clock_);
  call_timer_.emplace(scheduler, context_.lock->clock());
  bind(scheduler);
}

void Election::start(std::weak_ptr<Waker> observer) noexcept {
  observer_ = std::move(observer);
  context_.log.info("{} tries to acquire {}", context_.identity, context_.lock_name);
  schedule();
}

void Election::request_stop() noexcept {
  stopping_ = true;
  schedule();
}

void Election::work_ended(Work how) noexcept {
  if (how == Work::kFailed) work_failed_ = true;
  work_ended_ = true;
  schedule();
}

bool Election::is_done() const noexcept { return work_ended_ && (work_failed_ || stopping_); }

void Election::run() noexcept {
  if (state_ == State::kEnded) return;
  try {
    while (advance()) {
    }
  } catch (...) {
    // Only a lack of memory gets here: an exception of the lock ends its try.
    report_failure();
    if (state_ != State::kEnded) wait_until(state_, clock_.now() + context_.options.retry_period);
  }
  set_timers();
}

void Election::set_timers() noexcept {
  if (state_ == State::kEnded) return;
  Clock::TimePoint next = until_;
  Clock::TimePoint call = Clock::TimePoint::max();
  if (try_) {
    next = try_->call_deadline();
    call = try_->wake_at();
  } else if (call_) {
    next = call_->deadline();
    call = call_->wake_at();
  }
  timer_->set(next, weak_from_this());
  call_timer_->set(call, weak_from_this());
}

void Election::wait_until(State state, Clock::TimePoint when) noexcept {
  state_ = state;
  until_ = when;
}

bool Election::advance() {
  switch (state_) {
    case State::kAcquire:
      return poll_acquire();
    case State::kAcquireWait:
      if (!stopping_ && clock_.now() < until_) return false;
      wait_until(State::kAcquire, Clock::TimePoint::max());
      return true;
    case State::kLead:
      return poll_lead();
    case State::kRenew:
      return poll_renew();
    case State::kRenewWait:
      if (is_done()) {
        leave();
      } else if (clock_.now() < until_) {
        return false;
      } else if (clock_.now() >= deadline_) {
        lost("could not renew it in time");
      } else {
        wait_until(State::kRenew, Clock::TimePoint::max());
      }
      return true;
    case State::kStopWork:
      if (!work_ended_) return false;
      work_has_stopped();
      return true;
    case State::kRelease:
      return poll_release();
    case State::kReleaseWait:
      if (clock_.now() < until_) return false;
      wait_until(State::kRelease, Clock::TimePoint::max());
      return true;
    case State::kEnded:
      return false;
  }
  return false;
}

bool Election::poll_acquire() {
  if (stopping_ && !try_) {
    end();
    return false;
  }
  const std::optional<Outcome> outcome = poll_try(Clock::TimePoint::max(), stopping_);
  if (!outcome) return false;
  if (*outcome == Outcome::kHeld) {
    acquired();
  } else {
    wait_until(State::kAcquireWait, clock_.now() + acquire_retry_.next(clock_.now()));
  }
  return true;
}

std::optional<Outcome> Election::poll_try(Clock::TimePoint deadline, bool cancel) {
  Outcome outcome = Outcome::kFailed;
  try {
    if (!try_) try_.emplace(context_, deadline, poller());
    if (cancel) try_->cancel();
    const std::optional<Outcome> result = try_->poll();
    if (!result) return std::nullopt;
    outcome = *result;
  } catch (...) {
    report_failure();
  }
  try_.reset();
  try {
    announce_leader();
  } catch (...) {
    report_failure();
  }
  // A response after the deadline is too late.
  return outcome == Outcome::kHeld && clock_.now() > deadline ? Outcome::kFailed : outcome;
}

/// Logs the exception being handled.
void Election::report_failure() noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    if (stopping_) {
      context_.log.debug("{}: {}", context_.lock_name, error.what());  // the call was canceled
    } else {
      context_.log.warning("{}: {}", context_.lock_name, error.what());
    }
  } catch (...) {
    context_.log.warning("{}: the lock threw an exception that is not a std::exception",
                         context_.lock_name);
  }
}

void Election::announce_leader() {
  if (announcements_ == nullptr) return;
  std::string leader = context_.lease->holder();
  if (leader == announced_) return;
  const Logger& log = context_.log;
  const bool kept = announcements_->push([leader, &announce = context_.options.on_new_leader, log] {
    try {
      announce(leader);
    } catch (const std::exception& error) {
      log.error("on_new_leader threw: {}", error.what());
    } catch (...) {
      log.error("on_new_leader threw an exception that is not a std::exception");
    }
  });
  if (kept) announced_ = std::move(leader);
}

void Election::acquired() noexcept {
  // The state is set first: even if something below fails, the lease is held.
  wait_until(State::kLead, clock_.now() + context_.options.retry_period);
  context_.master_status.set(1);
  acquired_ = true;
  if (const auto observer = observer_.lock()) observer->wake();
  context_.log.info("{} acquired {}", context_.identity, context_.lock_name);
  record_event("became leader");
}

bool Election::poll_lead() {
  if (is_done()) {
    leave();
    return true;
  }
  if (clock_.now() < until_) return false;
  begin_renewal();
  return true;
}

void Election::begin_renewal() {
  const LeaderElectionOptions& options = context_.options;
  // Other candidates count from the last write, not from the arrival of its response. With a fast
  // response, this call would have come one retry period after the write.
  const Clock::TimePoint written = context_.lease->written_at();
  deadline_ = std::min({clock_.now() + options.renew_deadline,
                        written + options.retry_period + options.renew_deadline,
                        written + options.lease_duration});
  if (clock_.now() >= deadline_) {
    // The machine was suspended, or this thread was not scheduled. Another candidate may lead by
    // now.
    return lost("it was not renewed in time");
  }
  wait_until(State::kRenew, Clock::TimePoint::max());
}

bool Election::poll_renew() {
  const std::optional<Outcome> outcome = poll_try(deadline_, is_done());
  if (!outcome) return false;
  if (*outcome == Outcome::kHeld) {
    wait_until(State::kLead, clock_.now() + context_.options.retry_period);
  } else if (*outcome == Outcome::kLost) {
    lost("another candidate leads");
  } else {
    wait_until(State::kRenewWait,
               std::min(clock_.now() + context_.options.retry_period, deadline_));
  }
  return true;
}

void Election::lost(const char* how) noexcept {
  leave();
  context_.log.error("{} lost {}: {}", context_.identity, context_.lock_name, how);
}

/// Ends the leadership, and requests the stop of the work if it still runs.
void Election::leave() noexcept {
  wait_until(State::kStopWork, Clock::TimePoint::max());
  leaving_ = true;
  if (const auto observer = observer_.lock()) observer->wake();
}

void Election::work_has_stopped() {
  context_.master_status.set(0);
  context_.log.info("{} stopped leading", context_.identity);
  record_event("stopped leading");
  if (context_.options.release_on_cancel && context_.lease->is_named()) {
    deadline_ = clock_.now() + context_.options.renew_deadline;
    wait_until(State::kRelease, Clock::TimePoint::max());
  } else {
    end();
  }
}

void Election::record_event(const char* what) noexcept {
  try {
    context_.lock->record_event(fmt::format("{} {}", context_.identity, what));
  } catch (...) {
    report_failure();
  }
}

/// Reads the lease and writes it without a holder; repeated after a conflict with another writer.
bool Election::poll_release() {
  try {
    if (!call_) {
      released_.reset();
      call_ = context_.lock->start({.timeout = context_.call_timeout(deadline_)}, poller());
    }
    if (call_->poll() == Poll::kPending) return false;
    if (!released_) {
      const std::optional<LeaderElectionRecord> found = call_->take_record();
      call_.reset();
      if (!found || found->holder_identity != context_.identity) {
        end();
        return false;
      }
      const MicroTime now = clock_.wall_now();
      released_ = LeaderElectionRecord{.lease_duration_seconds = 1,
                                       .acquire_time = now,
                                       .renew_time = now,
                                       .leader_transitions = found->leader_transitions};
      call_ = context_.lock->start({.verb = LockRequest::Verb::kUpdate,
                                    .record = *released_,
                                    .timeout = context_.call_timeout(deadline_)},
                                   poller());
      return true;
    }
    context_.lease->found(*released_);
    end();
    return false;
  } catch (const ApiError& error) {
    if (is_conflict(error) && clock_.now() < deadline_) {
      call_.reset();
      wait_until(State::kReleaseWait, clock_.now() + release_retry_.next(clock_.now()));
      return true;
    }
    context_.log.error("cannot release {}: {}", context_.lock_name, error.what());
  } catch (const std::exception& error) {
    context_.log.error("cannot release {}: {}", context_.lock_name, error.what());
  } catch (...) {
    context_.log.error(
        "cannot release {}: the lock threw an exception that is not a std::exception",
        context_.lock_name);
  }
  end();
  return false;
}

void Election::end() noexcept {
  state_ = State::kEnded;
  try_.reset();
  call_.reset();
  timer_.reset();
  call_timer_.reset();
  try {
    if (acquired_) announce_leader();
  } catch (...) {
    report_failure();
  }
  ended_ = true;
  if (const auto observer = observer_.lock()) observer->wake();
}

}  // namespace kube::detail
