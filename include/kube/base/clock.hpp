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

/// Time as the library sees it. Whatever reads a clock, sleeps or waits with a deadline takes a Clock, so
/// that tests can hold the hands (testkit::FakeClock).
///
/// Thread safety: all methods may be called from any thread.
class Clock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;
  using WallTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  /// Never goes back; for measuring and waiting.
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// The time of day, which may jump; for what is written into objects.
  [[nodiscard]] virtual WallTime wall_now() const = 0;

  /// Waits on `condition`, whose mutex `lock` holds, until `ready()` is true, `deadline` has come or a stop
  /// is requested, whichever is first. Returns what `ready()` says then. Whoever makes it true notifies
  /// `condition` as usual.
  virtual bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition,
                          TimePoint deadline, std::stop_token stop,
                          const std::function<bool()>& ready) = 0;

  /// Returns false if a stop was requested before the time had come.
  bool sleep_until(TimePoint deadline, std::stop_token stop);
  bool sleep_for(Duration duration, std::stop_token stop) {
    return sleep_until(now() + duration, std::move(stop));
  }

  /// Announces timers that wait for this clock without a thread, until they are detached. A clock that is moved by hand
  /// calls ClockTimers::time_moved() whenever it has been, and returns true. Any other returns false: its times come by
  /// themselves.
  virtual bool attach(ClockTimers& timers);
  virtual void detach(ClockTimers& timers) noexcept;
  /// Timers were set, cancelled or have fired. For clocks that are moved by hand.
  virtual void timers_changed() noexcept {}
};

/// Timers that go by a Clock. A clock that is moved by hand calls all of this, with its own lock held if it likes.
class ClockTimers {
 public:
  virtual ~ClockTimers() = default;
  virtual void time_moved() noexcept = 0;
  /// How many wait for a time after `now`.
  [[nodiscard]] virtual std::size_t pending(Clock::TimePoint now) const noexcept = 0;
  /// The earliest of these times, or TimePoint::max().
  [[nodiscard]] virtual Clock::TimePoint next_after(Clock::TimePoint now) const noexcept = 0;
};

/// The clocks of the machine. Has no state: one object serves everybody. now() stops while the machine is suspended.
[[nodiscard]] Clock& system_clock() noexcept;

/// The same, but now() goes on while the machine is suspended (CLOCK_BOOTTIME): for what others count on, such as
/// leases. A wait whose deadline passed during a suspend ends at most a quarter of a second after it.
[[nodiscard]] Clock& boot_clock() noexcept;

namespace detail {

/// See boot_clock().
class BootClock final : public Clock {
 public:
  using Read = TimePoint (*)();

  /// `read` gives the time with suspends counted; tests put their own in place.
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
