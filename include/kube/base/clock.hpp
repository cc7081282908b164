// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>

namespace kube {

class ClockTimers;

/// The library's source of time. All code that reads the time, sleeps or waits with a deadline
/// takes a Clock, so that tests can control it (testkit::FakeClock).
///
/// Thread safety: all methods may be called from any thread.
class Clock {
 public:
  /// An instant of monotonic time.
  using TimePoint = std::chrono::steady_clock::time_point;
  /// A length of time; any std::chrono duration of up to nanosecond precision converts to it.
  using Duration = std::chrono::steady_clock::duration;
  /// A time of day.
  using WallTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  /// Monotonic time, for measuring and waiting.
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// The time of day, which may jump; for timestamps in objects.
  [[nodiscard]] virtual WallTime wall_now() const = 0;

  /// Waits on `condition`, whose mutex `lock` holds, until `ready()` is true, `deadline` is reached
  /// or a stop is requested, whichever is first. Returns the last result of `ready()`. The thread
  /// that makes it true notifies `condition` as usual.
  virtual bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition,
                          TimePoint deadline, std::stop_token stop,
                          const std::function<bool()>& ready) = 0;

  /// Sleeps until the deadline. Returns false if a stop is requested first.
  bool sleep_until(TimePoint deadline, std::stop_token stop);
  /// Sleeps for `duration`. Returns false if a stop is requested first.
  bool sleep_for(Duration duration, std::stop_token stop) {
    return sleep_until(now() + duration, std::move(stop));
  }

  /// Registers timers that use this clock without a thread; detach() removes them. A clock that is
  /// advanced by hand returns true, and calls ClockTimers::time_moved() after each move. Other
  /// clocks return false: their time advances by itself.
  virtual bool attach(ClockTimers& timers);
  /// Removes timers that were registered with attach().
  virtual void detach(ClockTimers& timers) noexcept;
  /// Called after timers were set, cancelled or fired. For clocks that are advanced by hand.
  virtual void timers_changed() noexcept {}
};

/// Timers that follow a Clock. A clock that is advanced by hand calls these methods, possibly with
/// its own lock held.
class ClockTimers {
 public:
  virtual ~ClockTimers() = default;
  /// Called after the clock was moved: timers that are due now fire.
  virtual void time_moved() noexcept = 0;
  /// The number of timers that are due after `now`.
  [[nodiscard]] virtual std::size_t pending(Clock::TimePoint now) const noexcept = 0;
  /// The earliest due time after `now`, or TimePoint::max().
  [[nodiscard]] virtual Clock::TimePoint next_after(Clock::TimePoint now) const noexcept = 0;
};

/// The clocks of the machine: one stateless object for the whole process. now() stops while the
/// machine is suspended.
[[nodiscard]] Clock& system_clock() noexcept;

/// Like system_clock(), but now() advances while the machine is suspended (CLOCK_BOOTTIME). For
/// deadlines that other machines rely on, such as leases. A wait whose deadline passed during a
/// suspend ends at most a quarter of a second after the resume.
[[nodiscard]] Clock& boot_clock() noexcept;

namespace detail {

/// Implements boot_clock().
class BootClock final : public Clock {
 public:
  using Read = TimePoint (*)();

  /// `read` returns the time including suspends; tests replace it.
  explicit BootClock(Read read) noexcept : read_(read) {}

  [[nodiscard]] TimePoint now() const override { return read_(); }
  [[nodiscard]] WallTime wall_now() const override { return system_clock().wall_now(); }
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override;

 private:
  const Read read_;
};

}  // namespace detail

}  // namespace kube
