// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <optional>
#include <string>

#include "url.hpp"

namespace kube::detail {

/// The server and the proxy that connections are made to.
struct Origin {
  std::string scheme;
  std::string host;
  int port = 0;
  std::string path;
  /// Value of the Host header: without the port if it is the default.
  std::string authority;
  /// "https://10.0.0.1:6443", for messages.
  std::string name;
  /// A proxy of scheme http, https or socks5.
  std::optional<Url> proxy = std::nullopt;

  [[nodiscard]] bool secure() const { return scheme == "https"; }
};

/// Parses base_url and determines the proxy. Throws TransportError.
[[nodiscard]] Origin parse_origin(const TransportOptions& options);

}  // namespace kube::detail
