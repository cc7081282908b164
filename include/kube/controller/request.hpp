// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>

#include <cstddef>
#include <functional>
#include <optional>

namespace kube {

/// A controller is asked to look at this object; the request does not say what happened to it.
struct Request {
  ObjectKey key;

  friend bool operator==(const Request& a, const Request& b) = default;
};

/// Tells what shall happen with the request; see done(), requeue_after() and requeue().
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

}  // namespace kube

template <>
struct std::hash<kube::Request> {
  std::size_t operator()(const kube::Request& request) const noexcept {
    return std::hash<kube::ObjectKey>{}(request.key);
  }
};
