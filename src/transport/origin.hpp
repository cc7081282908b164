// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/url.hpp"
#include <kube/transport/http_transport.hpp>

#include <optional>
#include <string>

namespace kube::detail {

/// The server and the proxy that connections are made to.
struct Origin {
  /// Of scheme http or https; the path has no trailing slash.
  Url server;
  /// A proxy of scheme http, https or socks5.
  std::optional<Url> proxy;
  /// "https://10.0.0.1:6443", for messages.
  std::string name;

  [[nodiscard]] bool secure() const { return server.scheme == "https"; }
};

/// Parses base_url and determines the proxy. Throws TransportError.
[[nodiscard]] Origin parse_origin(const TransportOptions& options);

}  // namespace kube::detail
