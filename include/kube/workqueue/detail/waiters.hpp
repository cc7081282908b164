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

/// A coroutine that waits for an item of a queue. It has a timer of its own.
struct CoroutineWaiter {
  std::weak_ptr<Waker> waker = {};
  CoroutineWaiter* previous = nullptr;
  CoroutineWaiter* next = nullptr;
  bool is_waiting = false;  ///< linked in the list of a Waiters
};

/// The threads and coroutines that wait for an item of a queue. Delayed items need no timer thread:
/// one waiting thread sleeps until the earliest of them is due, and the others sleep until they are
/// woken.
///
/// All methods are called with the mutex of the queue held.
class Waiters {
 public:
  explicit Waiters(Clock& clock) noexcept : clock_(clock) {}

  /// Returns the current time plus `delay`, saturated.
  [[nodiscard]] Clock::TimePoint after(Clock::Duration delay) const {
    const Clock::TimePoint now = clock_.now();
    return delay < Clock::TimePoint::max() - now ? now + delay : Clock::TimePoint::max();
  }
  /// Waits until woken, stopped, or, if no other thread waits for that time, `next`.
  void wait(std::unique_lock<std::mutex>& lock, Clock::TimePoint next, std::stop_token stop);
  void wake_one() noexcept {
    if (!coroutines_.empty()) return wake_coroutine();  // a coroutine is woken at most once
    if (waiting_ == 0) return;
    ++wakes_;
    condition_.notify_one();
  }
  void wake_all() noexcept {
    ++wakes_;
    condition_.notify_all();
    while (!coroutines_.empty()) wake_coroutine();
  }
  /// Adds a coroutine, to be woken once and removed then. No effect if it has been added already.
  void add(CoroutineWaiter& waiter) noexcept {
    if (!std::exchange(waiter.is_waiting, true)) coroutines_.push_back(waiter);
  }
  void remove(CoroutineWaiter& waiter) noexcept {
    if (std::exchange(waiter.is_waiting, false)) coroutines_.erase(waiter);
  }
  /// Ensures that one waiter, if there are any, sleeps no longer than until `next`. Called when
  /// `next` may have become earlier, and when a waiter leaves the queue.
  void ensure_timed_waiter(Clock::TimePoint next) noexcept {
    if (next < timed_until_) wake_one();
  }

 private:
  struct Links {
    CoroutineWaiter& operator()(CoroutineWaiter& waiter) const noexcept { return waiter; }
  };

  /// Wakes the coroutine that has waited longest, if there is one.
  void wake_coroutine() noexcept;

  Clock& clock_;
  Condition condition_;
  std::size_t waiting_ = 0;
  std::uint64_t wakes_ = 0;
  Clock::TimePoint timed_until_ = Clock::TimePoint::max();
  LinkedList<CoroutineWaiter, Links> coroutines_;
};

}  // namespace kube::detail
