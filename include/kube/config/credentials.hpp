// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/secret_text.hpp>
#include <kube/config/config.hpp>
#include <kube/config/environment.hpp>
#include <kube/config/exec_plugins.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace kube {

/// Trust roots and client certificate for TLS connections, in memory. Immutable: a change creates a
/// new object.
struct TlsMaterial {
  bool insecure_skip_verify = false;
  std::string server_name = {};
  /// PEM; used only if has_ca. Without a CA the system's roots are trusted; with an empty CA no
  /// server is.
  std::string ca = {};
  bool has_ca = false;
  /// PEM; both are set or neither.
  std::string certificate = {};
  SecretText key = {};
  /// Changes with certificate and key. Connections made with an older value must be closed.
  std::uint64_t identity = 0;
  /// Changes with the CA. Idle connections made with an older value must be closed.
  std::uint64_t trust = 0;
};

/// The current identity of the client. Reads files again when they change, runs plugins and caches
/// their results.
///
/// Thread safety: all methods may be called from any thread.
class Credentials {
 public:
  virtual ~Credentials() = default;

  /// Returns the value of the Authorization header, or empty for none. Blocks while it runs a
  /// plugin or reads a file. Throws ConfigError.
  [[nodiscard]] virtual std::string authorization(std::stop_token stop = {}) = 0;
  /// Returns the material for new connections: the same object until something changes. May block
  /// and throw like authorization().
  [[nodiscard]] virtual std::shared_ptr<const TlsMaterial> tls(std::stop_token stop = {}) = 0;
  /// Reports that the server answered 401 to a request with this Authorization. A plugin runs again
  /// before the next request, unless it has already done so since. Never blocks.
  virtual void refused(const std::string& authorization) = 0;
  /// Calls `changed` whenever the identity of tls() has changed, so that connections can be closed
  /// even if no new ones are made. Checks the files every five minutes for that, as long as the
  /// returned object lives. The calls are made from any thread, also from within the methods above,
  /// and end soon after that object is destroyed. `changed` must not destroy it.
  [[nodiscard]] virtual std::shared_ptr<void> on_identity_change(
      std::function<void()> /*changed*/) {  // NOLINT: overriders store it
    return nullptr;                         // for identities that never change
  }
};

/// Dependencies of make_credentials() besides the Config. Every field is optional.
struct CredentialsOptions {
  /// Must outlive the credentials and the objects returned by on_identity_change().
  Clock* clock = &system_clock();
  /// Receives errors that do not fail a request, such as a plugin that failed while its previous
  /// credential is still valid.
  Logger log = stderr_logger();
  /// Variables that plugins inherit, and whether they can prompt the user.
  Environment environment = {};
  /// Limits and hooks for exec plugins.
  ExecOptions exec = {};
};

/// Makes the credentials that `config` describes. Reads the files it names; plugins run only when
/// needed. Throws ConfigError if something is missing, malformed or contradictory.
[[nodiscard]] std::shared_ptr<Credentials> make_credentials(const Config& config,
                                                            CredentialsOptions options = {});

}  // namespace kube
