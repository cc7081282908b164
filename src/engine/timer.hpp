// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <boost/intrusive/set.hpp>

#include <memory>
#include <mutex>

#include "job.hpp"

namespace kube::detail {

class EventLoop;
class Timer;

/// All timers of one event loop that follow one clock.
///
/// Thread safety: any method from any thread.
class TimerQueue final : public ClockTimers {
 public:
  using TimePoint = Clock::TimePoint;

  /// Both must outlive the queue.
  TimerQueue(EventLoop& loop, Clock& clock);
  ~TimerQueue() override;
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  /// Removes the timer that has been due for longest, and returns its waker, or null if that is
  /// destroyed. Returns false if no timer is due. Called by the loop.
  bool take_due(std::shared_ptr<Waker>& waker) noexcept;
  /// The time of the machine's clock at which take_due() has work to do.
  [[nodiscard]] std::chrono::steady_clock::time_point next_machine_time() const noexcept;

  // For clocks that are advanced by hand:
  void time_moved() noexcept override;
  [[nodiscard]] std::size_t pending(TimePoint now) const noexcept override;
  [[nodiscard]] TimePoint next_after(TimePoint now) const noexcept override;

 private:
  friend class Timer;
  struct Earlier {
    bool operator()(const Timer& a, const Timer& b) const noexcept;
  };
  using Hook =
      boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

  void set(Timer& timer, TimePoint when, std::weak_ptr<Waker> waker) noexcept;
  bool cancel(Timer& timer) noexcept;

  EventLoop& loop_;
  Clock& clock_;

  mutable std::mutex mutex_;
  struct Pending;
  const std::unique_ptr<Pending> pending_;  // guarded by mutex_

  /// Last member: its initialisation attaches the queue, which the clock may call from then on.
  const bool by_hand_;
};

/// Schedules a job, or wakes another Waker, at a point in time. Setting and cancelling neither
/// allocate nor fail.
///
/// A wake-up is only a hint: a job that can be scheduled for several reasons checks the clock
/// itself.
/// Thread safety: that of its owner; usually it is a member of a job.
class Timer : public boost::intrusive::set_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::normal_link>> {
 public:
  using TimePoint = Clock::TimePoint;

  /// Throws std::bad_alloc. `clock` must outlive the timer.
  Timer(const std::shared_ptr<Scheduler>& scheduler, Clock& clock);
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Wakes `waker` once, at `when` or soon after, never before. Replaces an earlier setting.
  /// TimePoint::max() cancels.
  void set(TimePoint when, std::weak_ptr<Waker> waker) noexcept;
  /// Returns true if the timer was set and had not fired.
  bool cancel() noexcept;

 private:
  friend class TimerQueue;

  const std::shared_ptr<Scheduler> scheduler_;  // owns the loop that the queue refers to
  const std::shared_ptr<TimerQueue> queue_;
  // Guarded by the mutex of the queue:
  bool set_ = false;
  TimePoint when_{};
  std::weak_ptr<Waker> waker_;
};

}  // namespace kube::detail
