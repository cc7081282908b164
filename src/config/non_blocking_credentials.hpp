// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/credentials.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

class Scheduler;

/// Implemented by Credentials that know when they would block: those of make_credentials(). These
/// calls may read a small file, but neither run a plugin nor wait for one.
///
/// Thread safety: all methods may be called from any thread.
class NonBlockingCredentials {
 public:
  virtual ~NonBlockingCredentials() = default;

  /// Returns the same as authorization(), or nothing if that would block. Throws ConfigError.
  [[nodiscard]] virtual std::optional<std::string> try_authorization() = 0;
  /// Returns the same as tls(), or null if that would block. Throws ConfigError.
  [[nodiscard]] virtual std::shared_ptr<const TlsMaterial> try_tls() = 0;
  /// The same as Credentials::on_identity_change(), but a job of `scheduler` checks the files, without
  /// a thread.
  [[nodiscard]] virtual std::shared_ptr<void> on_identity_change(
      std::function<void()> changed, const std::shared_ptr<Scheduler>& scheduler) = 0;
};

}  // namespace kube::detail
