// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

namespace kube {

/// A condition variable that is also woken by a stop request.
///
/// std::condition_variable_any needs a mutex of its own, which the woken and the waking thread then
/// contend for: four system calls per wake-up instead of two, on every path from a socket to a
/// handler. Notify without holding the lock where possible.
///
/// Thread safety: all methods may be called from any thread.
class Condition {
 public:
  /// Deadlines are on the monotonic clock.
  using TimePoint = std::chrono::steady_clock::time_point;

  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Wakes one waiting thread, if there is one.
  void notify_one() noexcept { notify(1); }
  /// Wakes all waiting threads.
  void notify_all() noexcept { notify(kAll); }

  /// Waits until `ready()` returns true. `lock` is released while waiting, and held while `ready()`
  /// is called.
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    (void)wait_until(lock, {}, TimePoint::max(), ready);
  }
  /// As above, but also returns when a stop is requested. Returns the last result of `ready()`.
  template <typename Ready>
  bool wait(std::unique_lock<std::mutex>& lock, std::stop_token stop, const Ready& ready) {
    return wait_until(lock, std::move(stop), TimePoint::max(), ready);
  }
  /// As above, but also returns at the deadline.
  template <typename Ready>
  bool wait_until(std::unique_lock<std::mutex>& lock, std::stop_token stop, TimePoint deadline,
                  const Ready& ready) {
    if (ready()) return true;
    const std::stop_callback wake{stop, [this]() noexcept { notify_all(); }};
    const Waiter counted{waiters_};
    for (;;) {
      // Loaded before the check: a later change increments the counter, and sleep() returns at
      // once.
      const std::uint32_t seen = changes_.load();
      if (ready()) return true;
      if (stop.stop_requested() || !sleep(lock, seen, deadline)) return ready();
    }
  }
  /// As above, with a timeout relative to now.
  template <typename Ready>
  bool wait_for(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds limit,
                const Ready& ready) {
    return wait_until(lock, {}, std::chrono::steady_clock::now() + limit, ready);
  }

 private:
  static constexpr int kAll = 0x7fffffff;

  struct Waiter {
    explicit Waiter(std::atomic<std::uint32_t>& count) : waiters(count) { ++waiters; }
    ~Waiter() { --waiters; }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    std::atomic<std::uint32_t>& waiters;
  };

  void notify(int count) noexcept {
    ++changes_;
    if (waiters_.load() != 0) wake(count);
  }
  void wake(int count) noexcept;
  /// Sleeps unless changes_ differs from `seen`. Returns false if the deadline has passed.
  bool sleep(std::unique_lock<std::mutex>& lock, std::uint32_t seen, TimePoint deadline);

  std::atomic<std::uint32_t> changes_ = 0;
  std::atomic<std::uint32_t> waiters_ = 0;
};

}  // namespace kube
