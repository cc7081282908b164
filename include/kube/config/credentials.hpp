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

/// What a TLS connection is made with, all of it in memory. Immutable: a change makes a new one.
struct TlsMaterial {
  bool insecure_skip_verify = false;
  std::string server_name = {};
  /// PEM; only used if has_ca. Without a CA the roots of the system are trusted; an empty CA trusts nobody.
  std::string ca = {};
  bool has_ca = false;
  /// PEM, both or none.
  std::string certificate = {};
  SecretText key = {};
  /// Changes with certificate and key: connections made with an older one must be closed.
  std::uint64_t identity = 0;
  /// Changes with the CA: idle connections made with an older one must be closed.
  std::uint64_t trust = 0;
};

/// Who the client is at this moment. Reads files again, runs plugins, and remembers what they said.
///
/// Thread safety: all methods may be called from any thread.
class Credentials {
 public:
  virtual ~Credentials() = default;

  /// The value of the Authorization header, or empty for none. May run a plugin or read a file, and blocks
  /// for that long. Throws ConfigError.
  [[nodiscard]] virtual std::string authorization(std::stop_token stop = {}) = 0;
  /// What to make connections with now; the same object until something changes. As cheap, as slow and as
  /// likely to throw as authorization().
  [[nodiscard]] virtual std::shared_ptr<const TlsMaterial> tls(std::stop_token stop = {}) = 0;
  /// The server answered 401 to a request that was sent with this Authorization. A plugin runs again before the
  /// next request, unless it has done so meanwhile. Never blocks.
  virtual void refused(const std::string& authorization) = 0;
  /// Calls `changed` whenever the identity of tls() has changed, so that connections can be closed although
  /// nobody makes new ones; files are looked at every five minutes for that, as long as the returned object
  /// lives. The calls come from any thread, also from within the methods above, and end soon after that
  /// object is gone; they must not destroy it.
  [[nodiscard]] virtual std::shared_ptr<void> on_identity_change(
      std::function<void()> /*changed*/) {  // NOLINT: those who override it keep it
    return nullptr;                         // for identities that never change
  }
};

/// What credentials work with besides the Config. Any field may be left out.
struct CredentialsOptions {
  /// Must outlive the credentials and what their on_identity_change() returned.
  Clock* clock = &system_clock();
  Logger log = stderr_logger();
  Environment environment = {};
  ExecOptions exec = {};
};

/// The credentials that `config` describes. Reads the files that it names; plugins run only when they are
/// needed. Throws ConfigError if something is missing, malformed, or does not fit together.
[[nodiscard]] std::shared_ptr<Credentials> make_credentials(const Config& config,
                                                            CredentialsOptions options = {});

}  // namespace kube
