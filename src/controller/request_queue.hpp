// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/controller/controller_options.hpp>
#include <kube/controller/reconcile.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace kube::detail {

/// The queue of a controller, with or without priorities.
class RequestQueue {
 public:
  using Reconcile = std::function<Result(const kube::Request& request)>;
  using Done = std::function<void(const kube::Request& request, ReconcileOutcome outcome)>;

  virtual ~RequestQueue() = default;

  virtual void add(const kube::Request& request, int priority) = 0;
  /// Waits for a request and processes it. Returns false after a stop or a shutdown.
  virtual bool process(const Reconcile& reconcile, const Done& done, std::stop_token stop) = 0;
  virtual void shut_down() = 0;

  [[nodiscard]] static std::unique_ptr<RequestQueue> make(
      bool priorities, const WorkQueueOptions& options,
      std::unique_ptr<ItemRateLimiter<kube::Request>> limiter);
};

}  // namespace kube::detail
