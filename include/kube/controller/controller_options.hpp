// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/controller/request.hpp>
#include <kube/workqueue/rate_limiters.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace kube {

/// Settings of a controller. Any field may be left out; most then come from ManagerOptions.
struct ControllerOptions {
  /// Number of requests that are reconciled concurrently; never the same request twice.
  std::optional<int> max_concurrent_reconciles{};
  /// Back-off of failing requests; by default 5 ms to 1000 s, doubled after each failure.
  std::unique_ptr<ItemRateLimiter<Request>> rate_limiter{};
  /// Reconciles only while this process is the leader.
  bool needs_leader_election = true;
  /// Fills caches and queue before this process becomes the leader.
  std::optional<bool> warm_up{};
  /// Maximum time to fill the caches. After it the controller fails, which stops the manager.
  std::optional<Clock::Duration> cache_sync_timeout{};
  /// After this time a stop is requested through the token of a reconcile; none by default.
  std::optional<Clock::Duration> reconcile_timeout{};
  /// Requests for objects of the initial list or a resync get a lower priority than those for
  /// changes. Without it the queue is a RateLimitingQueue.
  bool priority_queue = true;
  /// Allows a name that another controller already uses for its metrics.
  bool skip_name_validation = false;
};

/// Report of one call of a reconcile function.
struct ReconcileReport {
  std::string_view controller;
  const Request& request;
  ReconcileOutcome outcome;
  Clock::Duration took;
  std::string_view error;  ///< message of the exception, if it threw
};

}  // namespace kube
