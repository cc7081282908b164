// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/log.hpp>
#include <kube/controller/detail/insist.hpp>
#include <kube/workqueue/priority_queue.hpp>

#include <exception>
#include <functional>
#include <optional>

namespace kube {

/// What a controller is asked to look at: an object, without a word on what happened to it.
struct Request {
  ObjectKey key;

  friend bool operator==(const Request& a, const Request& b) = default;
};

/// What a controller wants to happen with the request; see done(), requeue_after() and requeue().
struct Result {
  Clock::Duration after{};
  bool requeue = false;
  std::optional<int> priority{};  ///< when it comes again; by default the same as now
};

/// All is as it should be.
[[nodiscard]] inline Result done() noexcept { return {}; }
/// Look again after that time; failures are forgotten.
[[nodiscard]] inline Result requeue_after(Clock::Duration delay) noexcept {
  return {.after = delay};
}
/// Look again later and later, as after an error.
[[nodiscard]] inline Result requeue() noexcept { return {.requeue = true}; }

/// Thrown by a controller that fails in a way that trying again does not help.
class TerminalError : public Error {
 public:
  using Error::Error;
};

/// How a request ended; in the words of the metrics.
enum class ReconcileOutcome { kSuccess, kError, kTerminalError, kRequeue, kRequeueAfter };

namespace detail {
template <typename Queue, typename Item>
void add_again(Queue& queue, const Item& item, const PriorityAddOptions& options) {
  if constexpr (requires { queue.add(item, options); }) {
    queue.add(item, options);
  } else if (options.rate_limited) {
    queue.add_rate_limited(item);
  } else {
    queue.add_after(item, options.after);
  }
}
}  // namespace detail

/// Calls `reconcile(item)` for an item that `queue` handed out with `priority`, sees to it that it comes again if it
/// has to, and tells the queue that it is done. What `reconcile` throws is logged and counts as an error. `queue` is
/// a PriorityQueue or a RateLimitingQueue, which has no priorities.
template <typename Queue, typename Item, typename Reconcile>
ReconcileOutcome reconcile_item(Queue& queue, const Item& item, int priority, Reconcile&& reconcile,
                                const Logger& log = stderr_logger()) {
  // `reconcile` is taken by reference: a copy that runs out of memory would leave the item in processing for ever.
  struct Done {
    Queue& queue;
    const Item& item;
    ~Done() { queue.done(item); }
  } const done{queue, item};
  try {
    const Result result = reconcile(item);
    const int next = result.priority.value_or(priority);
    if (result.after > Clock::Duration{}) {
      queue.forget(item);
      detail::add_again(queue, item, {.priority = next, .after = result.after});
      return ReconcileOutcome::kRequeueAfter;
    }
    if (result.requeue) {
      detail::add_again(queue, item, {.priority = next, .rate_limited = true});
      return ReconcileOutcome::kRequeue;
    }
    queue.forget(item);
    return ReconcileOutcome::kSuccess;
  } catch (const TerminalError& error) {
    log.error("reconciling failed for good: {}", error.what());
    return ReconcileOutcome::kTerminalError;
  } catch (const std::exception& error) {
    log.error("reconciling failed: {}", error.what());
  } catch (...) {
    log.error("reconciling threw something that is no std::exception");
  }
  detail::insist(
      [&] { detail::add_again(queue, item, {.priority = priority, .rate_limited = true}); });
  return ReconcileOutcome::kError;
}

}  // namespace kube

template <>
struct std::hash<kube::Request> {
  std::size_t operator()(const kube::Request& request) const noexcept {
    return std::hash<kube::ObjectKey>{}(request.key);
  }
};
