// SPDX-License-Identifier: Apache-2.0
#include "origin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

// SOCKS5 encodes each of these lengths in one byte.
constexpr std::size_t kMaxSocksText = 255;

/// Parses a URL. The message of a failure begins with `what`, where the URL comes from.
Url parse(std::string_view text, std::string_view default_scheme, std::string_view what) {
  try {
    return parse_url(text, default_scheme);
  } catch (const UrlError& error) {
    throw TransportError(Kind::kProtocol, fmt::format("{} is not a URL: {}", what, error.what()));
  }
}

Url parse_proxy(const std::string& text, const Url& server) {
  Url proxy = parse(text, "http", "the address of the proxy");
  if (proxy.scheme == "socks5h") proxy.scheme = "socks5";  // as in Go, the proxy resolves the name
  if (proxy.scheme == "http" || proxy.scheme == "https") return proxy;
  if (proxy.scheme != "socks5") {
    throw TransportError(
        Kind::kProtocol,
        fmt::format("the proxy scheme {} is not supported; use http, https or socks5",
                    proxy.scheme));
  }
  if (std::max({proxy.user.size(), proxy.password.size(), server.host.size()}) > kMaxSocksText) {
    throw TransportError(Kind::kProtocol,
                         "the address of the proxy: SOCKS5 allows at most 255 bytes for user, "
                         "password and host");
  }
  return proxy;
}

}  // namespace

Origin parse_origin(const TransportOptions& options) {
  Origin origin;
  Url& server = origin.server;
  server = parse(options.base_url, "https", "the address of the server");
  if (server.scheme != "https" && server.scheme != "http") {
    throw TransportError(Kind::kProtocol, "the address of the server is neither http nor https");
  }
  while (server.path.ends_with('/')) server.path.pop_back();
  origin.name = fmt::format("{}://{}", server.scheme, server.host_and_port());

  const std::string proxy = options.proxy_url.empty()
                                ? proxy_from_environment(server.scheme, server.host, server.port)
                                : options.proxy_url;
  if (!proxy.empty()) origin.proxy = parse_proxy(proxy, server);
  return origin;
}

}  // namespace kube::detail
