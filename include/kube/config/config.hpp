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

/// A configuration that cannot be used. The message names file and entry, and lists every problem.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& problem);
  explicit ConfigError(std::vector<std::string> problems);

  /// One sentence each, never empty.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  std::vector<std::string> problems_;
};

/// Nothing says where the server is. Callers may want to ask the user, or to take a default.
class EmptyConfigError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// The program does not run in a pod.
class NotInClusterError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// How connections prove and trust. Files are read again when they change; data is as given (PEM).
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

/// Whom to act as. Only a user that the server trusts to may do so.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};

  bool operator==(const Impersonation&) const = default;
};

/// Everything that a Client needs to know to reach an API server and be somebody there. Comes from
/// load_config(), in_cluster_config() or build_config_from_flags(), or is written by hand.
///
/// to_string() redacts secrets.
struct Config {
  /// "https://10.0.0.1:6443", with a path if the API has a prefix. A host without scheme is https if
  /// anything of TLS is configured, else http.
  std::string host = {};
  TlsConfig tls = {};
  SecretText bearer_token = {};
  /// Read again about every minute; beats bearer_token once read.
  std::string bearer_token_file = {};
  std::string username = {};
  SecretText password = {};
  Impersonation impersonate = {};
  /// A program that prints credentials.
  std::optional<ExecConfig> exec = std::nullopt;
  /// The legacy mechanism, of which none is implemented; naming one is an error of the Client.
  std::string auth_provider = {};
  /// http, https or socks5; empty takes HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
  std::string proxy_url = {};
  bool disable_compression = false;
  /// The namespace of the context, "default" if it has none.
  std::string default_namespace = "default";
  /// True if an override, not a file, chose the namespace.
  bool namespace_overridden = false;
  /// Empty is the default of RC-7.
  std::string user_agent = {};
  /// Requests per second and how many at once; 0 is 5 and 10, negative is no limit.
  double qps = 0;
  int burst = 0;
  /// Of each request as a whole, watches included; zero is none.
  std::chrono::milliseconds timeout{0};
  /// Empty negotiates: protobuf for types that have it, JSON for others.
  std::string content_type = {};
  std::string accept = {};

  bool operator==(const Config&) const = default;
};

/// For logs: passwords, tokens, keys and what a plugin is given in its environment are redacted,
/// certificates shortened.
[[nodiscard]] std::string to_string(const Config& config);
/// The same.
std::ostream& operator<<(std::ostream& out, const Config& config);

/// The headers of a request that acts as somebody else; none if `who` is nobody. They belong on requests
/// that do not have an Impersonate-User yet. Throws ConfigError if there is no user but something else, or if
/// a value cannot stand in a header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> impersonation_headers(
    const Impersonation& who);

/// A timeout as users write it: seconds ("30") or a duration ("2m", "1h30m"); "0" is none. Throws ConfigError.
[[nodiscard]] std::chrono::milliseconds parse_timeout(std::string_view text);

}  // namespace kube
