// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>

namespace kube {

/// The clock of another machine: it shows another time of day, and runs faster or slower.
class SkewedClock final : public Clock {
 public:
  SkewedClock(testkit::FakeClock& base, double rate, Duration offset)
      : base_(base), rate_(rate), offset_(offset) {}

  [[nodiscard]] TimePoint now() const override {
    return TimePoint{offset_ + scaled(base_.now().time_since_epoch(), rate_)};
  }
  [[nodiscard]] WallTime wall_now() const override { return base_.wall_now() + offset_; }
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    TimePoint there = deadline;
    if (deadline != TimePoint::max()) {
      there = TimePoint{scaled(deadline.time_since_epoch() - offset_, 1 / rate_) +
                        std::chrono::microseconds{1}};
    }
    const Sleeper sleeper{*this, there};
    return base_.wait_until(lock, condition, there, std::move(stop), ready);
  }
  /// Whether somebody waits for a time that is still to come, but not further away than `horizon`.
  [[nodiscard]] bool is_waited_for(Duration horizon) const {
    const TimePoint from = base_.now();
    const std::lock_guard guard{mutex_};
    const auto next = deadlines_.upper_bound(from);
    return next != deadlines_.end() && *next <= from + horizon;
  }

 private:
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

  testkit::FakeClock& base_;
  const double rate_;
  const Duration offset_;
  mutable std::mutex mutex_;
  std::multiset<TimePoint> deadlines_;  // by the base; guarded by mutex_
};

}  // namespace kube
