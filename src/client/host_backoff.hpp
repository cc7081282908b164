// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/backoff.hpp>
#include <kube/config/environment.hpp>

#include <mutex>
#include <optional>

namespace kube::detail {

/// Holds back requests to a server that is overloaded or failing, if the environment asks for it
/// (KUBE_CLIENT_BACKOFF_BASE and KUBE_CLIENT_BACKOFF_DURATION, in seconds); otherwise never.
///
/// Thread safety: all methods may be called from any thread.
class HostBackoff {
 public:
  explicit HostBackoff(const Environment& environment);

  /// How long the next request has to wait.
  [[nodiscard]] Clock::Duration delay() const;
  /// A request was answered with `code`, or not at all (0).
  void answered(int code, Clock::TimePoint now);

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::optional<Backoff> backoff_;
  Clock::Duration delay_{};
};

}  // namespace kube::detail
