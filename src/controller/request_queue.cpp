// SPDX-License-Identifier: Apache-2.0
#include "request_queue.hpp"

namespace kube::detail {
namespace {

using Limiter = std::unique_ptr<ItemRateLimiter<kube::Request>>;

class WithPriorities final : public RequestQueue {
 public:
  WithPriorities(const WorkQueueOptions& options, Limiter limiter)
      : queue_(options, std::move(limiter)) {}

  void add(const kube::Request& request, int priority) override {
    queue_.add(request, {.priority = priority});
  }
  bool process(const Reconcile& reconcile, const Done& done, std::stop_token stop) override {
    const auto next = queue_.get_with_priority(std::move(stop));
    if (next)
      done(next->item, reconcile_item(queue_, next->item, next->priority, reconcile, Logger{}));
    return next.has_value();
  }
  void shut_down() override { queue_.shut_down(); }

 private:
  PriorityQueue<kube::Request> queue_;
};

class Plain final : public RequestQueue {
 public:
  Plain(const WorkQueueOptions& options, Limiter limiter) : queue_(options, std::move(limiter)) {}

  void add(const kube::Request& request, int /*priority*/) override { queue_.add(request); }
  bool process(const Reconcile& reconcile, const Done& done, std::stop_token stop) override {
    const auto next = queue_.get(std::move(stop));
    if (next) done(*next, reconcile_item(queue_, *next, 0, reconcile, Logger{}));
    return next.has_value();
  }
  void shut_down() override { queue_.shut_down(); }

 private:
  RateLimitingQueue<kube::Request> queue_;
};

}  // namespace

std::unique_ptr<RequestQueue> RequestQueue::make(bool priorities, const WorkQueueOptions& options,
                                                 Limiter limiter) {
  if (priorities) return std::make_unique<WithPriorities>(options, std::move(limiter));
  return std::make_unique<Plain>(options, std::move(limiter));
}

}  // namespace kube::detail
