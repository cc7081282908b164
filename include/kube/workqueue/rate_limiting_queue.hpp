// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/workqueue/rate_limiters.hpp>
#include <kube/workqueue/work_queue.hpp>

#include <memory>
#include <utility>

namespace kube {

/// A WorkQueue for items that may fail. add_rate_limited() delays an item longer after each
/// failure. Call forget() when an item succeeds or is given up; it still needs done(). Thread
/// safety: as WorkQueue.
template <typename T>
class RateLimitingQueue : public WorkQueue<T> {
 public:
  /// The default limiter is default_controller_limiter().
  explicit RateLimitingQueue(WorkQueueOptions options = {},
                             std::unique_ptr<ItemRateLimiter<T>> limiter = nullptr)
      : WorkQueue<T>(options),
        limiter_(limiter ? std::move(limiter) : default_controller_limiter<T>(*options.clock)) {}

  /// Adds an item after the delay of the rate limiter.
  void add_rate_limited(const T& item) { this->add_after(item, limiter_->when(item)); }
  /// Resets the failures of the item. Does not remove it from the queue.
  void forget(const T& item) { limiter_->forget(item); }
  /// Returns how often the item has failed.
  [[nodiscard]] int num_requeues(const T& item) const { return limiter_->num_requeues(item); }

 private:
  const std::unique_ptr<ItemRateLimiter<T>> limiter_;
};

}  // namespace kube
