// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>

#include <cstddef>
#include <functional>
#include <optional>

namespace kube {

/// A request to reconcile an object. It is level-triggered: it does not say what has changed.
struct Request {
  ObjectKey key;

  friend bool operator==(const Request& a, const Request& b) = default;
};

/// Result of a reconcile; see done(), requeue_after() and requeue().
struct Result {
  Clock::Duration after{};
  bool requeue = false;
  std::optional<int> priority{};  ///< priority of the requeued request; by default unchanged
};

/// The object is in its desired state: no requeue.
[[nodiscard]] inline Result done() noexcept { return {}; }
/// Reconciles again after `delay`, and resets the back-off.
[[nodiscard]] inline Result requeue_after(Clock::Duration delay) noexcept {
  return {.after = delay};
}
/// Reconciles again with back-off, as after an error.
[[nodiscard]] inline Result requeue() noexcept { return {.requeue = true}; }

/// Thrown by a reconcile function to report an error that a retry cannot fix.
class TerminalError : public Error {
 public:
  using Error::Error;
};

/// Outcome of a reconcile, named as in the metrics.
enum class ReconcileOutcome { kSuccess, kError, kTerminalError, kRequeue, kRequeueAfter };

}  // namespace kube

template <>
struct std::hash<kube::Request> {
  std::size_t operator()(const kube::Request& request) const noexcept {
    return std::hash<kube::ObjectKey>{}(request.key);
  }
};
