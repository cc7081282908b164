// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube::detail {

/// A queue between threads that never holds up whoever fills it. Thread safety: all methods, from any thread.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Returns false, and keeps nothing, if the queue is full.
  [[nodiscard]] bool push(T item) {
    const std::lock_guard guard{mutex_};
    if (items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }
  /// Waits for an item, to be followed by done(). None after a stop.
  [[nodiscard]] std::optional<T> pop(std::stop_token stop) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [this] { return !items_.empty(); });
    if (stop.stop_requested()) return std::nullopt;
    std::optional<T> item{std::move(items_.front())};
    items_.pop_front();
    ++in_work_;
    return item;
  }
  void done() {
    const std::lock_guard guard{mutex_};
    --in_work_;
    changed_.notify_all();
  }
  /// Waits until all items are done; false if they are not at `deadline`.
  [[nodiscard]] bool wait_until_done(Clock& clock, Clock::TimePoint deadline) {
    std::unique_lock lock{mutex_};
    return clock.wait_until(lock, changed_, deadline, {},
                            [this] { return items_.empty() && in_work_ == 0; });
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  std::deque<T> items_;
  std::size_t in_work_ = 0;
};

}  // namespace kube::detail
