// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/config/credentials.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kube::detail {

/// Has credentials renewed by a worker, in one call for all requests that wait for it meanwhile.
///
/// Thread safety: all methods may be called from any thread.
class CredentialsRefresh {
 public:
  /// A call of Credentials::authorization(), stopped when nobody holds it any more.
  class Call;

  explicit CredentialsRefresh(std::shared_ptr<Credentials> credentials) noexcept
      : credentials_(std::move(credentials)) {}

  /// The call that is under way, or a new one; wakes `poller` when it has ended.
  [[nodiscard]] std::shared_ptr<Call> join(const Poller& poller);
  /// The result of the call; nothing while it is pending. Throws what the call has thrown.
  [[nodiscard]] static std::optional<std::string> poll(const Call& call);

 private:
  const std::shared_ptr<Credentials> credentials_;
  std::mutex mutex_;
  std::weak_ptr<Call> call_;  // guarded by mutex_
};

}  // namespace kube::detail
