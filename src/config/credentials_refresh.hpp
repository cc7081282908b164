// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include "non_blocking_credentials.hpp"

#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace kube::detail {

/// Renews credentials once for all requests that wait for it. Workers only start the plugin and
/// take its result; the loop waits for it.
///
/// Thread safety: all methods may be called from any thread.
class CredentialsRefresh {
 public:
  /// A renewal. It is stopped when the last reference is dropped.
  class Call;

  /// `credentials` may be null if join() is never called.
  explicit CredentialsRefresh(std::shared_ptr<NonBlockingCredentials> credentials) noexcept
      : credentials_(std::move(credentials)) {}

  /// Returns the renewal under way on the poller's scheduler, or starts one. Wakes `poller` when it
  /// has ended.
  [[nodiscard]] std::shared_ptr<Call> join(const Poller& poller);
  /// Returns true once the renewal has ended. Throws what it threw.
  [[nodiscard]] static bool poll(const Call& call);
  /// With a scheduler without threads, runs its loop until the renewal has ended or a stop is
  /// requested, unless another thread runs it.
  static void drive(const Call& call, const std::stop_token& stop);

 private:
  const std::shared_ptr<NonBlockingCredentials> credentials_;
  std::mutex mutex_;
  std::weak_ptr<Call> call_;  // guarded by mutex_
};

}  // namespace kube::detail
