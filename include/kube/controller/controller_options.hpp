// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/controller/request.hpp>
#include <kube/workqueue/rate_limiters.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace kube {

/// How a controller works. Any field may be left out; most then come from ManagerOptions.
struct ControllerOptions {
  /// How many requests are worked on at once; never one of them twice.
  std::optional<int> max_concurrent_reconciles{};
  /// How long failing requests wait; by default 5 ms to 1000 s, twice as long from failure to failure.
  std::unique_ptr<ItemRateLimiter<Request>> rate_limiter{};
  /// Work only while this process leads.
  bool needs_leader_election = true;
  /// Fill caches and queue before this process leads.
  std::optional<bool> warm_up{};
  /// How long the caches may take to be filled before the controller gives up, and with it the manager.
  std::optional<Clock::Duration> cache_sync_timeout{};
  /// After this time the stop token of a reconcile is stopped; none by default.
  std::optional<Clock::Duration> reconcile_timeout{};
  /// What existed before, and what a resync shows again, comes after what has changed. Without it the queue is a
  /// RateLimitingQueue.
  bool priority_queue = true;
  /// Allow a name that another controller counts under already.
  bool skip_name_validation = false;
};

/// One call of a reconcile function.
struct ReconcileReport {
  std::string_view controller;
  const Request& request;
  ReconcileOutcome outcome;
  Clock::Duration took;
  std::string_view error;  ///< what it threw, if it did
};

}  // namespace kube
