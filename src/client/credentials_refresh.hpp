// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/config/credentials.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kube::detail {

/// Lets a worker renew credentials, with one call for all requests that wait for it.
///
/// Thread safety: all methods may be called from any thread.
class CredentialsRefresh {
 public:
  /// A call of Credentials::authorization(). It is stopped when the last reference is dropped.
  class Call;

  explicit CredentialsRefresh(std::shared_ptr<Credentials> credentials) noexcept
      : credentials_(std::move(credentials)) {}

  /// Returns the running call, or starts one. Wakes `poller` when it has ended.
  [[nodiscard]] std::shared_ptr<Call> join(const Poller& poller);
  /// Returns the result of the call; nothing while pending. Rethrows the exception of the call.
  [[nodiscard]] static std::optional<std::string> poll(const Call& call);

 private:
  const std::shared_ptr<Credentials> credentials_;
  std::mutex mutex_;
  std::weak_ptr<Call> call_;  // guarded by mutex_
};

}  // namespace kube::detail
