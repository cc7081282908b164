// SPDX-License-Identifier: Apache-2.0
#include "election_try.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

namespace kube::detail {

Clock::Duration ElectionContext::call_timeout(Clock::TimePoint deadline) const {
  return std::min(deadline - clock().now(), election_request_timeout(options.renew_deadline));
}

LeaderElectionRecord ElectionContext::own_record() const {
  const MicroTime now = clock().wall_now();
  return {.holder_identity = identity,
          .lease_duration_seconds = static_cast<int>(
              std::chrono::ceil<std::chrono::seconds>(options.lease_duration).count()),
          .acquire_time = now,
          .renew_time = now};
}

LeaderElectionRecord ElectionContext::continued(const LeaderElectionRecord& term) const {
  LeaderElectionRecord record = own_record();
  record.acquire_time = term.acquire_time;
  record.leader_transitions = term.leader_transitions;
  record.strategy = term.strategy;
  return record;
}

ElectionTry::ElectionTry(const ElectionContext& context, Clock::TimePoint deadline, Poller poller)
    : context_(context), deadline_(deadline), poller_(std::move(poller)) {}

Clock::TimePoint ElectionTry::wake_at() const noexcept {
  return operation_ ? operation_->wake_at() : Clock::TimePoint::max();
}

Clock::TimePoint ElectionTry::call_deadline() const noexcept {
  return operation_ ? operation_->deadline() : Clock::TimePoint::max();
}

void ElectionTry::cancel() noexcept {
  canceled_ = true;
  if (operation_) operation_->cancel();
}

std::optional<ElectionTry::Outcome> ElectionTry::poll() {
  for (;;) {
    switch (step_) {
      case Step::kNew:
        begin();
        break;
      case Step::kRenew:
        try {
          if (operation_->poll() == Poll::kPending) return std::nullopt;
          return written();
        } catch (const std::exception& error) {
          renewal_failed(error);
        }
        break;
      case Step::kRead:
        if (operation_->poll() == Poll::kPending) return std::nullopt;
        if (const auto outcome = decide(operation_->take_record())) return outcome;
        break;
      case Step::kWrite:
        if (operation_->poll() == Poll::kPending) return std::nullopt;
        return written();
    }
  }
}

void ElectionTry::begin() {
  ObservedLease& lease = *context_.lease;
  if (context_.options.coordinated || !lease.is_named() || !lease.is_valid()) return read();
  try {
    write(context_.continued(lease.record()));
    step_ = Step::kRenew;
  } catch (const std::exception& error) {
    renewal_failed(error);
  }
}

/// Called while `error` is being handled.
void ElectionTry::renewal_failed(const std::exception& error) {
  if (canceled_) throw;
  context_.log.info("cannot renew {} without reading it: {}", context_.lock_name, error.what());
  read();
}

void ElectionTry::read() {
  operation_ = context_.lock->start({.timeout = context_.call_timeout(deadline_)}, poller_);
  step_ = Step::kRead;
}

void ElectionTry::write(LeaderElectionRecord record, LockRequest::Verb verb) {
  record_ = std::move(record);
  sent_at_ = context_.clock().now();
  operation_ = context_.lock->start(
      {.verb = verb, .record = record_, .timeout = context_.call_timeout(deadline_)}, poller_);
  step_ = Step::kWrite;
}

ElectionTry::Outcome ElectionTry::written() {
  context_.lease->written(record_, sent_at_);
  return Outcome::kHeld;
}

std::optional<ElectionTry::Outcome> ElectionTry::decide(
    const std::optional<LeaderElectionRecord>& found) {
  ObservedLease& lease = *context_.lease;
  if (!found) {
    if (context_.options.coordinated) return Outcome::kFailed;
    write(context_.own_record(), LockRequest::Verb::kCreate);
    return std::nullopt;
  }
  lease.found(*found);
  if (context_.options.coordinated) return decide_coordinated(*found);
  if (lease.is_named()) {
    context_.slow_path.add();
    write(context_.continued(*found));
    return std::nullopt;
  }
  if (!found->holder_identity.empty() && lease.is_valid()) return Outcome::kLost;
  LeaderElectionRecord record = context_.own_record();
  record.leader_transitions =
      std::min(found->leader_transitions, std::numeric_limits<int>::max() - 1) + 1;
  write(std::move(record));
  return std::nullopt;
}

std::optional<ElectionTry::Outcome> ElectionTry::decide_coordinated(
    const LeaderElectionRecord& found) {
  if (!context_.lease->is_named() || !context_.lease->is_valid()) return Outcome::kLost;
  if (!found.preferred_holder.empty()) {
    context_.log.info("the server prefers {} as the leader", found.preferred_holder);
    return Outcome::kLost;
  }
  write(context_.continued(found));
  return std::nullopt;
}

}  // namespace kube::detail
