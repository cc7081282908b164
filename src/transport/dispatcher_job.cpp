// SPDX-License-Identifier: Apache-2.0
#include "dispatcher_job.hpp"

#include "engine/scheduler.hpp"

#include <utility>

namespace kube::detail {

namespace {

/// A job that is late by more than this was not run in time; peers get the delay as extra time.
constexpr std::chrono::seconds kLate{1};
/// How often stop() checks whether the program still runs its loop.
constexpr std::chrono::milliseconds kLookAgain{1};
constexpr std::chrono::hours kLong{24};

}  // namespace

DispatcherJob::DispatcherJob(std::unique_ptr<HttpDispatcher> dispatcher,
                             const std::shared_ptr<Scheduler>& scheduler)
    : Job(Placement::kLoop), dispatcher_(std::move(dispatcher)), timer_(scheduler, system_clock()) {
  bind(scheduler);
}

bool DispatcherJob::is_here() const noexcept { return scheduler()->loop().is_here(); }

void DispatcherJob::run() noexcept {
  if (stopping_) return shut_down();
  const TimePoint begin = system_clock().now();
  if (due_ < begin - kLate) dispatcher_->extend_deadlines(begin - due_ + kLate);
  is_running_ = true;
  const TimePoint next = dispatcher_->turn();
  is_running_ = false;
  if (stopping_) return shut_down();
  wait_until(next, system_clock().now());
}

/// A deadline that is postponed with each byte does not reset the timer: it is checked again when
/// the timer fires.
void DispatcherJob::wait_until(TimePoint next, TimePoint now) noexcept {
  due_ = std::max(next, now);
  if (next <= now) return schedule();
  if (timer_set_ <= now) timer_set_ = TimePoint::max();
  if (next >= timer_set_) return;
  timer_set_ = next;
  timer_.set(next, weak_from_this());
}

void DispatcherJob::shut_down() noexcept {
  dispatcher_->shut_down();
  timer_.cancel();
  {
    const std::lock_guard guard{mutex_};
    ended_ = true;
  }
  ended_changed_.notify_all();
}

bool DispatcherJob::has_ended_within(std::chrono::nanoseconds limit) noexcept {
  std::unique_lock lock{mutex_};
  return ended_changed_.wait_for(lock, limit, [&] { return ended_; });
}

void DispatcherJob::stop() noexcept {
  stopping_ = true;
  EventLoop& loop = scheduler()->loop();
  if (is_here()) {
    if (!is_running_) shut_down();  // else run() does it
    return;
  }
  schedule();
  if (scheduler()->workers().is_without_threads()) {
    // The program may no longer run its loop.
    while (!has_ended_within(kLookAgain)) (void)loop.call_if_idle([this] { shut_down(); });
  } else {
    while (!has_ended_within(kLong)) {
    }
  }
}

}  // namespace kube::detail
