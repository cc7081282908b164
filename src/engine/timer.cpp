// SPDX-License-Identifier: Apache-2.0
#include "timer.hpp"

#include <algorithm>
#include <utility>

#include "event_loop.hpp"
#include "scheduler.hpp"

namespace kube::detail {

namespace {

/// A clock that is neither the machine's nor advanced by hand may run faster than the machine's
/// (after a suspend, for instance), so a long wait rechecks it at this interval.
constexpr std::chrono::milliseconds kRecheckInterval{250};

}  // namespace

struct TimerQueue::Pending {
  boost::intrusive::multiset<Timer, boost::intrusive::compare<Earlier>> timers;
};

bool TimerQueue::Earlier::operator()(const Timer& a, const Timer& b) const noexcept {
  return a.when_ < b.when_;
}

TimerQueue::TimerQueue(EventLoop& loop, Clock& clock)
    : loop_(loop),
      clock_(clock),
      pending_(std::make_unique<Pending>()),
      by_hand_(clock.attach(*this)) {}

TimerQueue::~TimerQueue() {
  loop_.forget(*this);
  clock_.detach(*this);
}

void TimerQueue::set(Timer& timer, TimePoint when, std::weak_ptr<Waker> waker) noexcept {
  bool first = false;
  {
    const std::lock_guard guard{mutex_};
    auto& timers = pending_->timers;
    if (timer.set_) timers.erase(timers.iterator_to(timer));
    timer.set_ = true;
    timer.when_ = when;
    timer.waker_.swap(waker);  // the old one is released without the lock
    timers.insert(timer);
    first = &*timers.begin() == &timer;
  }
  if (by_hand_) clock_.timers_changed();
  if (first) loop_.time_changed(by_hand_ ? EventLoop::TimePoint::min() : next_machine_time());
}

bool TimerQueue::cancel(Timer& timer) noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (!timer.set_) return false;
    pending_->timers.erase(pending_->timers.iterator_to(timer));
    timer.set_ = false;
  }
  if (by_hand_) clock_.timers_changed();
  return true;
}

bool TimerQueue::take_due(std::shared_ptr<Waker>& waker) noexcept {
  const TimePoint now = clock_.now();
  {
    const std::lock_guard guard{mutex_};
    auto& timers = pending_->timers;
    if (timers.empty() || timers.begin()->when_ > now) return false;
    Timer& timer = *timers.begin();
    timers.erase(timers.begin());
    timer.set_ = false;
    waker = timer.waker_.lock();
  }
  if (by_hand_) clock_.timers_changed();
  return true;
}

std::chrono::steady_clock::time_point TimerQueue::next_machine_time() const noexcept {
  using MachineTime = std::chrono::steady_clock::time_point;
  const TimePoint now = clock_.now();
  const TimePoint next = [&] {
    const std::lock_guard guard{mutex_};
    const auto& timers = pending_->timers;
    return timers.empty() ? TimePoint::max() : timers.begin()->when_;
  }();
  if (next == TimePoint::max()) return MachineTime::max();
  if (&clock_ == &system_clock()) return next;
  if (next <= now) return MachineTime::min();
  if (by_hand_) return MachineTime::max();
  return std::chrono::steady_clock::now() + std::min<Clock::Duration>(next - now, kRecheckInterval);
}

void TimerQueue::time_moved() noexcept { loop_.wake(); }

std::size_t TimerQueue::pending(TimePoint now) const noexcept {
  const std::lock_guard guard{mutex_};
  const auto& timers = pending_->timers;
  return static_cast<std::size_t>(std::count_if(
      timers.begin(), timers.end(), [&](const Timer& timer) { return timer.when_ > now; }));
}

TimerQueue::TimePoint TimerQueue::next_after(TimePoint now) const noexcept {
  const std::lock_guard guard{mutex_};
  for (const Timer& timer : pending_->timers) {
    if (timer.when_ > now) return timer.when_;
  }
  return TimePoint::max();
}

Timer::Timer(const std::shared_ptr<Scheduler>& scheduler, Clock& clock)
    : scheduler_(scheduler), queue_(scheduler->loop().timers(clock)) {}

void Timer::set(TimePoint when, std::weak_ptr<Waker> waker) noexcept {
  if (when == TimePoint::max()) {
    cancel();
  } else {
    queue_->set(*this, when, std::move(waker));
  }
}

bool Timer::cancel() noexcept { return queue_->cancel(*this); }

}  // namespace kube::detail
