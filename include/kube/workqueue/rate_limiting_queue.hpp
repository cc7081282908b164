// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/workqueue/rate_limiters.hpp>
#include <kube/workqueue/work_queue.hpp>

#include <memory>
#include <utility>

namespace kube {

/// A WorkQueue for items that may fail: add_rate_limited() has them wait longer from failure to failure. When an item
/// is fine, or given up, forget() its failures; it still needs its done(). Thread safety: as WorkQueue.
template <typename T>
class RateLimitingQueue : public WorkQueue<T> {
 public:
  /// Without a limiter: default_controller_limiter().
  explicit RateLimitingQueue(WorkQueueOptions options = {},
                             std::unique_ptr<ItemRateLimiter<T>> limiter = nullptr)
      : WorkQueue<T>(options),
        limiter_(limiter ? std::move(limiter) : default_controller_limiter<T>(*options.clock)) {}

  void add_rate_limited(const T& item) { this->add_after(item, limiter_->when(item)); }
  /// Clears the failures of the item and leaves it where it is in the queue.
  void forget(const T& item) { limiter_->forget(item); }
  [[nodiscard]] int num_requeues(const T& item) const { return limiter_->num_requeues(item); }

 private:
  const std::unique_ptr<ItemRateLimiter<T>> limiter_;
};

}  // namespace kube
