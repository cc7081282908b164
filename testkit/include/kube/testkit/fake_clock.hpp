// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

namespace kube::testkit {

/// A clock that advances only on request, so that a test of an hour's timeouts takes milliseconds.
///
/// A test waits until the code under test sleeps (wait_for_sleepers()), then moves the time
/// (advance()); sleepers whose deadline has passed wake up. A sleeper is a thread or a timer of the
/// library that waits for a deadline.
///
/// Thread safety: all methods, from any thread.
class FakeClock final : public Clock {
 public:
  /// Starts at 2026-01-01T00:00:00Z.
  FakeClock() = default;

  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] WallTime wall_now() const override;
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override;
  bool attach(ClockTimers& timers) override;
  void detach(ClockTimers& timers) noexcept override;
  void timers_changed() noexcept override;

  /// Moves the monotonic time and the time of day forward, and wakes the sleepers that are due.
  void advance(Duration by);
  /// Moves only the time of day, as when the machine's clock is set.
  void jump_wall(Duration by);
  /// Waits, in real time, until at least `count` threads and timers wait for a deadline in the
  /// future. Returns false if there are fewer after `limit`.
  [[nodiscard]] bool wait_for_sleepers(std::size_t count,
                                       Duration limit = std::chrono::seconds{10}) const;
  /// Waits, in real time, until a thread or timer waits for a deadline in the future that is not
  /// later than `deadline`. Returns false after `limit`.
  [[nodiscard]] bool wait_for_sleeper_until(TimePoint deadline,
                                            Duration limit = std::chrono::seconds{10}) const;
  /// Waits for `condition` and advances the clock to the next deadline each time no thread has
  /// begun or ended a wait for a few milliseconds and the condition does not hold. For code that
  /// retries with back-off. `condition` is called by this thread. Returns false if it does not hold
  /// within `limit` of real time.
  [[nodiscard]] bool advance_until(const std::function<bool()>& condition,
                                   Duration limit = std::chrono::seconds{10});
  /// Returns the number of threads and timers that wait for a deadline in the future.
  [[nodiscard]] std::size_t sleepers() const;
  /// Returns the earliest deadline in the future; TimePoint::max() if there is none.
  [[nodiscard]] TimePoint next_deadline() const;

 private:
  void move_locked(Duration by);
  [[nodiscard]] std::size_t sleepers_locked() const;
  [[nodiscard]] TimePoint next_deadline_locked() const;

  mutable std::mutex mutex_;
  mutable Condition changed_;
  // Guarded by mutex_:
  TimePoint now_{};
  WallTime wall_{std::chrono::seconds{1767225600}};
  std::multiset<TimePoint> deadlines_;  // of waiting threads
  std::vector<ClockTimers*> timers_;
  std::uint64_t changes_ = 0;  // counts changes of deadlines and timers
};

}  // namespace kube::testkit
