// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "../../src/base/waker.hpp"

namespace kube::test {

/// A Waker that counts its wake-ups.
class CountingWaker final : public detail::Waker {
 public:
  void wake() noexcept override {
    const std::lock_guard guard{mutex_};
    ++count_;
    changed_.notify_all();
  }
  /// Returns the number of wake-ups since the last call.
  int take() {
    const std::lock_guard guard{mutex_};
    return std::exchange(count_, 0);
  }
  /// Waits, in real time, until it was woken after the last take() or wait().
  [[nodiscard]] bool wait() {
    std::unique_lock lock{mutex_};
    const bool woken =
        changed_.wait_for(lock, std::chrono::seconds{20}, [this] { return count_ > 0; });
    count_ = 0;
    return woken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

}  // namespace kube::test
