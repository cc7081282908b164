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

/// A clock that moves only when told to, so that a test of an hour takes a moment.
///
/// A test lets the code under test run into its wait (wait_for_sleepers()), then moves the hands
/// (advance()); those whose time has come wake up. A sleeper is a thread or a timer of the library that waits.
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

  void advance(Duration by);
  /// Moves only the time of day, as when somebody sets the machine's clock.
  void jump_wall(Duration by);
  /// Waits, in real time, until at least `count` threads and timers wait for a time that is still to come. Returns false
  /// if that does not happen within `limit`.
  [[nodiscard]] bool wait_for_sleepers(std::size_t count,
                                       Duration limit = std::chrono::seconds{10}) const;
  /// The same, by time: until somebody waits for `deadline`, or for a time before it that is still to come.
  [[nodiscard]] bool wait_for_sleeper_until(TimePoint deadline,
                                            Duration limit = std::chrono::seconds{10}) const;
  /// Moves the clock while it waits for `condition`: to the next deadline, again and again, whenever somebody sleeps and
  /// the condition does not hold a moment later. For code that retries, which would hang otherwise. `condition` is called
  /// by this thread. Returns false if it does not hold within `limit` of real time.
  [[nodiscard]] bool advance_until(const std::function<bool()>& condition,
                                   Duration limit = std::chrono::seconds{10});
  /// How many threads and timers wait for a time that is still to come.
  [[nodiscard]] std::size_t sleepers() const;
  /// The earliest deadline that somebody waits for; TimePoint::max() if there is none.
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
  std::multiset<TimePoint> deadlines_;  // of threads
  std::vector<ClockTimers*> timers_;
  std::uint64_t changes_ = 0;  // of deadlines and timers
};

}  // namespace kube::testkit
