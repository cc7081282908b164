// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>
#include <kube/config/exec_config.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kube {

/// A configuration that cannot be used. The message names file and entry, and lists every problem.
class ConfigError : public Error {
 public:
  using Error::Error;
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
  std::string key_data = {};
};

/// Whom to act as. Only a user that the server trusts to may do so.
struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  std::map<std::string, std::vector<std::string>> extra = {};
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
  std::string bearer_token = {};
  /// Read again about every minute; beats bearer_token once read.
  std::string bearer_token_file = {};
  std::string username = {};
  std::string password = {};
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
};

/// For logs: passwords, tokens and keys are redacted, certificates shortened.
[[nodiscard]] std::string to_string(const Config& config);

}  // namespace kube
