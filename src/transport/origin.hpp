// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <optional>
#include <string>

#include "url.hpp"

namespace kube::detail {

/// Where connections go.
struct Origin {
  std::string scheme;
  std::string host;
  int port = 0;
  std::string path;
  /// As it stands in Host: without the port if it is the usual one.
  std::string authority;
  /// "https://10.0.0.1:6443", for messages.
  std::string name;
  /// Of http, https or socks5.
  std::optional<Url> proxy = std::nullopt;

  [[nodiscard]] bool secure() const { return scheme == "https"; }
};

/// Reads base_url and finds the proxy. Throws TransportError.
[[nodiscard]] Origin parse_origin(const TransportOptions& options);

}  // namespace kube::detail
