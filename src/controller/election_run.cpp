// SPDX-License-Identifier: Apache-2.0
#include "election_run.hpp"

#include "blocking_lock.hpp"

#include "engine/scheduler.hpp"

#include <pthread.h>

#include <utility>

namespace kube::detail {

ElectionRun::ElectionRun(const std::shared_ptr<ResourceLock>& lock,
                         const LeaderElectionOptions& options, std::shared_ptr<ObservedLease> lease,
                         Gauge master_status, Counter slow_path)
    : options_(options),
      lock_(polled_form(lock)),
      runtime_(lock_->runtime()),
      calls_(lock_->calls()),
      announcements_(options.on_new_leader
                         ? std::make_shared<DeferredCalls>(Inside::core(*runtime_))
                         : nullptr),
      election_(std::make_shared<Election>(
          ElectionContext{.options = options,
                          .lock = lock_,
                          .lease = std::move(lease),
                          .identity = std::string{lock->identity()},
                          .lock_name = lock->describe(),
                          .log = deferred(options.log, calls_).named("leader election"),
                          .master_status = std::move(master_status),
                          .slow_path = std::move(slow_path)},
          announcements_)) {}

void ElectionRun::start(const std::shared_ptr<Waker>& waker) noexcept {
  waker_ = waker;
  calls_->wake_when_idle(waker);
  if (announcements_) announcements_->wake_when_idle(waker);
  election_->start(waker);
}

void ElectionRun::request_stop() noexcept {
  election_->request_stop();
  if (const auto waker = waker_.lock()) waker->wake();
}

bool ElectionRun::step() noexcept {
  if (election_->has_acquired() && !begun_) begin_work();
  if (begun_ && election_->must_work_stop()) stop_work_.request_stop();
  if (begun_ && work_returned_) {
    if (thread_.joinable()) {
      thread_.join();
      election_->work_ended(failure_ ? Election::Work::kFailed : Election::Work::kReturned);
    }
  }
  return election_->has_ended() && finish();
}

void ElectionRun::begin_work() noexcept {
  begun_ = true;
  // Without threads, the program's own loop calls the work, which must return soon.
  if (Inside::core(*runtime_)->workers().is_without_threads()) {
    work();
    return election_->work_ended(failure_ ? Election::Work::kFailed : Election::Work::kReturned);
  }
  try {
    thread_ = std::thread{[this] {
      ::pthread_setname_np(::pthread_self(), "kube-leader");
      work();
    }};
  } catch (...) {
    failure_ = std::current_exception();
    election_->work_ended(Election::Work::kFailed);
  }
}

void ElectionRun::work() noexcept {
  // this object may be destroyed as soon as the work has returned
  const std::weak_ptr<Waker> waker = waker_;
  try {
    options_.on_started_leading(stop_work_.get_token());
  } catch (...) {
    failure_ = std::current_exception();
  }
  work_returned_ = true;
  if (const auto owner = waker.lock()) owner->wake();
}

bool ElectionRun::finish() noexcept {
  if (announcements_) {
    announcements_->close();
    if (!announcements_->is_idle()) return false;
  }
  if (lock_) {
    // Joined first, so that its last log lines are still delivered.
    lock_->join();
    election_->drop_lock();
    lock_.reset();
  }
  calls_->close();
  return calls_->is_idle();
}

}  // namespace kube::detail
