// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>
#include <kube/base/secret_text.hpp>
#include <kube/config/exec_config.hpp>

#include <chrono>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Thrown when a configuration cannot be used. The message names the file and the entry, and lists
/// every problem.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& problem);
  explicit ConfigError(std::vector<std::string> problems);

  /// The individual problems, one sentence each. Never empty.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

/// Thrown when no source names a server. Callers may ask the user, or fall back to a default.
class EmptyConfigError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Thrown by in_cluster_config() when the program does not run in a pod.
class NotInClusterError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// TLS trust and the client's certificate. Files are read again when they change; `*_data` holds
/// PEM.
struct TlsConfig {
  bool insecure_skip_verify = false;
  /// The name expected in the server's certificate, if it is not the host.
  std::string server_name = {};
  std::string ca_file = {};
  std::string ca_data = {};
  std::string certificate_file = {};
  std::string certificate_data = {};
  std::string key_file = {};
  SecretText key_data = {};

  bool operator==(const TlsConfig&) const = default;
};

/// The user to impersonate. The server must allow the authenticated user to do so.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool operator==(const Impersonation&) const = default;
};

/// Everything a Client needs to reach an API server and authenticate. Made by load_config(),
/// in_cluster_config() or build_config_from_flags(), or filled by hand. client-go's rest.Config.
///
/// to_string() redacts secrets.
struct Config {
  /// "https://10.0.0.1:6443", with a path if the API has a prefix. A host without a scheme is https
  /// if any TLS field is set, else http.
  std::string host = {};
  TlsConfig tls = {};
  SecretText bearer_token = {};
  /// Read again about every minute. Takes precedence over bearer_token once it has been read.
  std::string bearer_token_file = {};
  std::string username = {};
  SecretText password = {};
  Impersonation impersonate = {};
  /// A plugin that prints credentials.
  std::optional<ExecConfig> exec = std::nullopt;
  /// Name of a legacy auth provider. None is implemented: the Client refuses a Config that names
  /// one.
  std::string auth_provider = {};
  /// http, https or socks5. If empty, HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply.
  std::string proxy_url = {};
  bool disable_compression = false;
  /// The namespace of the context; "default" if it has none.
  std::string default_namespace = "default";
  /// True if the namespace was set by an override instead of a file.
  bool namespace_overridden = false;
  /// The User-Agent header. If empty, make_user_agent() provides it: the name and version of the
  /// program.
  std::string user_agent = {};
  /// Client-side rate limit in requests per second. 0 selects the default of 5; a negative value
  /// disables the limit.
  double qps = 0;
  /// The number of requests that may be sent at once despite the limit. 0 selects the default of
  /// 10.
  int burst = 0;
  /// Limit for each request as a whole, watches included. Zero disables it.
  std::chrono::milliseconds timeout{0};
  /// Media type of request bodies. If empty: protobuf for types that support it, JSON for others.
  std::string content_type = {};
  /// Media types accepted in responses. If empty: as for content_type.
  std::string accept = {};

  bool operator==(const Config&) const = default;
};

/// Formats `config` for logs. Passwords, tokens, keys and the environment of a plugin are redacted;
/// certificates are shortened.
[[nodiscard]] std::string to_string(const Config& config);
/// Writes to_string(config).
std::ostream& operator<<(std::ostream& out, const Config& config);

/// Returns the impersonation headers for `who`; none if `who` is empty. Add them only to requests
/// that have no Impersonate-User header yet. Throws ConfigError if other fields are set without a
/// user, or if a value is not allowed in a header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> impersonation_headers(
    const Impersonation& who);

/// Parses a timeout: seconds ("30") or a duration ("2m", "1h30m"); "0" is none. Throws ConfigError.
[[nodiscard]] std::chrono::milliseconds parse_timeout(std::string_view text);

}  // namespace kube
