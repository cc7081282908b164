// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/controller/detail/insist.hpp>
#include <kube/controller/request.hpp>
#include <kube/workqueue/priority_queue.hpp>

#include <exception>

namespace kube {

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

/// Calls `reconcile(item)` for an item that `queue` returned with `priority`, requeues it if
/// necessary, and marks it done. An exception of `reconcile` is logged and counts as an error.
/// `queue` is a PriorityQueue or a RateLimitingQueue, which has no priorities.
template <typename Queue, typename Item, typename Reconcile>
ReconcileOutcome reconcile_item(Queue& queue, const Item& item, int priority, Reconcile&& reconcile,
                                const Logger& log = stderr_logger()) {
  // `reconcile` is taken by reference: a copy that runs out of memory would leave the item in
  // processing for ever.
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
    log.error("reconciling threw an exception that is not a std::exception");
  }
  detail::insist(
      [&] { detail::add_again(queue, item, {.priority = priority, .rate_limited = true}); });
  return ReconcileOutcome::kError;
}

}  // namespace kube
