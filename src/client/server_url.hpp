// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/config.hpp>

#include <string>
#include <string_view>

namespace kube::detail {

/// Where an API server is.
struct ServerUrl {
  std::string scheme;     ///< "http" or "https"
  std::string authority;  ///< host, and port if there is one
  std::string prefix;     ///< path in front of all others, without a slash at its end; often empty

  [[nodiscard]] std::string str() const { return scheme + "://" + authority + prefix; }
  /// Whether requests do not leave this machine: localhost, 127.0.0.0/8 or ::1.
  [[nodiscard]] bool is_loopback() const;
};

/// Reads Config::host: a host, host:port or URL; empty is localhost. Without a scheme it is https if
/// anything of TLS is configured. Throws ConfigError that quotes it.
[[nodiscard]] ServerUrl parse_server_url(const Config& config);

/// `text` with everything percent-encoded but letters, digits, `-._~` and the characters in `kept`.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view kept = {});

}  // namespace kube::detail
