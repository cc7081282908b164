// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/workqueue/detail/linked_list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace kube::detail {

class Waker;

/// A coroutine that waits for an item of a queue. It keeps the time by itself.
struct CoroutineWaiter {
  std::weak_ptr<Waker> waker = {};
  CoroutineWaiter* previous = nullptr;
  CoroutineWaiter* next = nullptr;
  bool is_waiting = false;  ///< it is in the list of a Waiters
};

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
    if (!coroutines_.empty()) return wake_coroutine();  // of those each is woken once
    if (waiting_ == 0) return;
    ++wakes_;
    condition_.notify_one();
  }
  void wake_all() noexcept {
    ++wakes_;
    condition_.notify_all();
    while (!coroutines_.empty()) wake_coroutine();
  }
  /// Has a coroutine woken once; whoever is woken is no longer waiting. Does nothing if it waits already.
  void add(CoroutineWaiter& waiter) noexcept {
    if (!std::exchange(waiter.is_waiting, true)) coroutines_.push_back(waiter);
  }
  void remove(CoroutineWaiter& waiter) noexcept {
    if (std::exchange(waiter.is_waiting, false)) coroutines_.erase(waiter);
  }
  /// Sees to it that somebody, if anybody waits, keeps the time `next`. To be called when it may have come closer,
  /// and by whoever leaves the queue.
  void keep_time(Clock::TimePoint next) noexcept {
    if (next < kept_) wake_one();
  }

 private:
  struct Links {
    CoroutineWaiter& operator()(CoroutineWaiter& waiter) const noexcept { return waiter; }
  };

  /// Wakes the coroutine that has waited for longest, if there is one.
  void wake_coroutine() noexcept;

  Clock& clock_;
  Condition condition_;
  std::size_t waiting_ = 0;
  std::uint64_t wakes_ = 0;
  Clock::TimePoint kept_ = Clock::TimePoint::max();
  LinkedList<CoroutineWaiter, Links> coroutines_;
};

}  // namespace kube::detail
