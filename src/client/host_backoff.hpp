// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/backoff.hpp>
#include <kube/config/environment.hpp>

#include <mutex>
#include <optional>

namespace kube::detail {

/// Delays requests to an overloaded or failing server, if the environment enables it
/// (KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION, in seconds).
///
/// Thread safety: all methods may be called from any thread.
class HostBackoff {
 public:
  explicit HostBackoff(const Environment& environment);

  /// Returns how long the next request has to wait.
  [[nodiscard]] Clock::Duration delay() const;
  /// Records the status of a response, or 0 if there was none.
  void answered(int code, Clock::TimePoint now);

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::optional<Backoff> backoff_;
  Clock::Duration delay_{};
};

}  // namespace kube::detail
