// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace kube::detail {

/// Those who wait for an item of a queue. Items that become ready at some time need no thread of their own: one
/// of those who wait keeps the time, until the earliest of them is ready, and the others sleep.
///
/// All methods are called with the mutex of the queue held.
class Waiters {
 public:
  explicit Waiters(Clock& clock) noexcept : clock_(clock) {}

  /// Now and `delay`, or the end of time.
  [[nodiscard]] Clock::TimePoint after(Clock::Duration delay) const {
    const Clock::TimePoint now = clock_.now();
    return delay < Clock::TimePoint::max() - now ? now + delay : Clock::TimePoint::max();
  }
  /// Waits until woken, stopped, or, if nobody else keeps that time already, `next`.
  void wait(std::unique_lock<std::mutex>& lock, Clock::TimePoint next, std::stop_token stop);
  void wake_one() noexcept {
    if (waiting_ == 0) return;
    ++wakes_;
    condition_.notify_one();
  }
  void wake_all() noexcept {
    ++wakes_;
    condition_.notify_all();
  }
  /// Sees to it that somebody, if anybody waits, keeps the time `next`. To be called when it may have come closer,
  /// and by whoever leaves the queue.
  void keep_time(Clock::TimePoint next) noexcept {
    if (next < kept_) wake_one();
  }

 private:
  Clock& clock_;
  Condition condition_;
  std::size_t waiting_ = 0;
  std::uint64_t wakes_ = 0;
  Clock::TimePoint kept_ = Clock::TimePoint::max();
};

}  // namespace kube::detail
