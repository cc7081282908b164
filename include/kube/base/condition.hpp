// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

namespace kube {

/// A condition variable that a stop request wakes, too.
///
/// std::condition_variable_any does the same with a mutex of its own, which the woken thread and the one that
/// wakes it then fight for: four system calls for each wake-up where two will do, on every way from a socket to
/// a handler. Notify it without holding the lock where that is possible.
///
/// Thread safety: all methods may be called from any thread.
class Condition {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(kAll); }

  /// Waits, without `lock`, until `ready()`, which is called with it.
  template <typename Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    (void)wait_until(lock, {}, TimePoint::max(), ready);
  }
  /// Until a stop is requested at the latest. Returns what `ready()` says then.
  template <typename Ready>
  bool wait(std::unique_lock<std::mutex>& lock, std::stop_token stop, const Ready& ready) {
    return wait_until(lock, std::move(stop), TimePoint::max(), ready);
  }
  /// Until the deadline at the latest, too.
  template <typename Ready>
  bool wait_until(std::unique_lock<std::mutex>& lock, std::stop_token stop, TimePoint deadline,
                  const Ready& ready) {
    if (ready()) return true;
    const std::stop_callback wake{stop, [this]() noexcept { notify_all(); }};
    const Waiter counted{waiters_};
    for (;;) {
      // Before looking: what changes afterwards changes the number, and sleep() returns at once.
      const std::uint32_t seen = changes_.load();
      if (ready()) return true;
      if (stop.stop_requested() || !sleep(lock, seen, deadline)) return ready();
    }
  }
  /// The same for a time from now on.
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
  /// Sleeps unless changes_ is no longer `seen`. False if the deadline has come.
  bool sleep(std::unique_lock<std::mutex>& lock, std::uint32_t seen, TimePoint deadline);

  std::atomic<std::uint32_t> changes_ = 0;
  std::atomic<std::uint32_t> waiters_ = 0;
};

}  // namespace kube
