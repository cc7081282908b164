// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

namespace kube {

/// The clock of another machine: it shows another time of day, and runs faster or slower.
class SkewedClock final : public Clock {
 public:
  SkewedClock(testkit::FakeClock& base, double rate, Duration offset)
      : base_(base), rate_(rate), offset_(offset) {}

  [[nodiscard]] TimePoint now() const override { return of_base(base_.now()); }
  [[nodiscard]] WallTime wall_now() const override { return base_.wall_now() + offset_; }
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    const TimePoint there = by_base(deadline);
    const Sleeper sleeper{*this, there};
    return base_.wait_until(lock, condition, there, std::move(stop), ready);
  }
  bool attach(ClockTimers& timers) override {
    auto translated = std::make_unique<Translated>(*this, timers);
    base_.attach(*translated);
    const std::lock_guard guard{mutex_};
    timers_.push_back(std::move(translated));
    return true;
  }
  void detach(ClockTimers& timers) noexcept override {
    std::unique_ptr<Translated> gone;
    {
      const std::lock_guard guard{mutex_};
      const auto found =
          std::ranges::find_if(timers_, [&](const auto& each) { return &each->timers == &timers; });
      gone = std::move(*found);
      timers_.erase(found);
    }
    base_.detach(*gone);
  }
  void timers_changed() noexcept override { base_.timers_changed(); }
  /// Returns whether a thread waits for a time in the future, at most `horizon` away.
  [[nodiscard]] bool is_waited_for(Duration horizon) const {
    const TimePoint from = base_.now();
    const std::lock_guard guard{mutex_};
    const auto next = deadlines_.upper_bound(from);
    return (next != deadlines_.end() && *next <= from + horizon) ||
           std::ranges::any_of(
               timers_, [&](const auto& each) { return each->next_after(from) <= from + horizon; });
  }

 private:
  /// Timers of this clock, implemented by timers of the base clock.
  struct Translated final : ClockTimers {
    Translated(const SkewedClock& skewed, ClockTimers& of) : clock(skewed), timers(of) {}
    void time_moved() noexcept override { timers.time_moved(); }
    [[nodiscard]] std::size_t pending(TimePoint now) const noexcept override {
      return timers.pending(clock.of_base(now));
    }
    [[nodiscard]] TimePoint next_after(TimePoint now) const noexcept override {
      return clock.by_base(timers.next_after(clock.of_base(now)));
    }
    const SkewedClock& clock;
    ClockTimers& timers;
  };
  class Sleeper {
   public:
    Sleeper(SkewedClock& clock, TimePoint deadline) : clock_(clock) {
      const std::lock_guard guard{clock_.mutex_};
      entry_ = clock_.deadlines_.insert(deadline);
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    ~Sleeper() {
      const std::lock_guard guard{clock_.mutex_};
      clock_.deadlines_.erase(entry_);
    }

   private:
    SkewedClock& clock_;
    std::multiset<TimePoint>::iterator entry_;
  };
  static Duration scaled(Duration time, double by) {
    return Duration{static_cast<Duration::rep>(static_cast<double>(time.count()) * by)};
  }

  [[nodiscard]] TimePoint of_base(TimePoint time) const {
    return TimePoint{offset_ + scaled(time.time_since_epoch(), rate_)};
  }
  /// Rounds up: rather a moment late than early.
  [[nodiscard]] TimePoint by_base(TimePoint time) const {
    if (time == TimePoint::max()) return time;
    return TimePoint{scaled(time.time_since_epoch() - offset_, 1 / rate_) +
                     std::chrono::microseconds{1}};
  }

  testkit::FakeClock& base_;
  const double rate_;
  const Duration offset_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::multiset<TimePoint> deadlines_;  // in time of the base clock
  std::vector<std::unique_ptr<Translated>> timers_;
};

}  // namespace kube
