// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/config/credentials.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kube::detail {

/// Renews credentials, for which a plugin may have to run (engine/polling.hpp). Belongs to a job.
class Renewal {
 public:
  virtual ~Renewal() = default;

  /// Throws ConfigError.
  [[nodiscard]] virtual Poll poll() = 0;
  /// Lets go of the clock of the credentials. poll() must not be called any more.
  virtual void forget_clock() noexcept = 0;
};

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
  /// Renews the credentials, after one of the calls above returned nothing. The poller has a
  /// scheduler, and keeps these credentials alive.
  [[nodiscard]] virtual std::unique_ptr<Renewal> renew(const Poller& poller) = 0;
  /// Return the result of the last renewal, even if it has expired: a plugin that prints an expired
  /// credential is not run again for the same request. Throw ConfigError.
  [[nodiscard]] virtual std::string last_authorization() = 0;
  [[nodiscard]] virtual std::shared_ptr<const TlsMaterial> last_tls() = 0;
  /// The same as Credentials::on_identity_change(), but a job of `scheduler` checks the files,
  /// without a thread.
  [[nodiscard]] virtual std::shared_ptr<void> on_identity_change(
      std::function<void()> changed, const std::shared_ptr<Scheduler>& scheduler) = 0;
};

}  // namespace kube::detail
