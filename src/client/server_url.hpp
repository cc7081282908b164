// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>

#include <string>
#include <string_view>

namespace kube::detail {

/// The address of an API server.
struct ServerUrl {
  std::string scheme;     ///< "http" or "https"
  std::string authority;  ///< host, and port if there is one
  std::string prefix;     ///< path before all others, without trailing slash; often empty

  [[nodiscard]] std::string str() const { return scheme + "://" + authority + prefix; }
  /// True if requests stay on this machine: localhost, 127.0.0.0/8 or ::1.
  [[nodiscard]] bool is_loopback() const;
};

/// Parses Config::host: a host, host:port or URL; empty means localhost. Without a scheme it is
/// https if any TLS field is set. Throws a ConfigError that quotes it.
[[nodiscard]] ServerUrl parse_server_url(const Config& config);

/// Percent-encodes `text`, except letters, digits, `-._~` and the characters in `kept`.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view kept = {});

}  // namespace kube::detail
