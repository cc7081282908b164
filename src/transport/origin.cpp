// SPDX-License-Identifier: Apache-2.0
#include "origin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ip_address.hpp"
#include "proxy.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

// SOCKS5 encodes each of these lengths in one byte.
constexpr std::size_t kMaxSocksText = 255;

Url parse_proxy(const std::string& text, const Origin& origin) {
  Url proxy = parse_url(text, "http", "the address of the proxy");
  if (proxy.scheme == "socks5h") proxy.scheme = "socks5";  // as in Go, the proxy resolves the name
  if (proxy.scheme == "http" || proxy.scheme == "https") return proxy;
  if (proxy.scheme != "socks5") {
    throw TransportError(
        Kind::kProtocol,
        fmt::format("the proxy scheme {} is not supported; use http, https or socks5",
                    proxy.scheme));
  }
  if (std::max({proxy.user.size(), proxy.password.size(), origin.host.size()}) > kMaxSocksText) {
    throw TransportError(Kind::kProtocol,
                         "the address of the proxy: SOCKS5 allows at most 255 bytes for user, "
                         "password and host");
  }
  return proxy;
}

}  // namespace

Origin parse_origin(const TransportOptions& options) {
  const Url url = parse_url(options.base_url, "https", "the address of the server");
  if (url.scheme != "https" && url.scheme != "http") {
    throw TransportError(Kind::kProtocol, "the address of the server is neither http nor https");
  }
  const std::string host = bracketed(url.host);
  const bool usual = url.port == (url.scheme == "https" ? 443 : 80);
  Origin origin{.scheme = url.scheme,
                .host = url.host,
                .port = url.port,
                .path = url.path,
                .authority = usual ? host : fmt::format("{}:{}", host, url.port),
                .name = fmt::format("{}://{}:{}", url.scheme, host, url.port)};
  while (origin.path.ends_with('/')) origin.path.pop_back();

  const std::string proxy = options.proxy_url.empty()
                                ? proxy_from_environment(origin.scheme, origin.host, origin.port)
                                : options.proxy_url;
  if (!proxy.empty()) origin.proxy = parse_proxy(proxy, origin);
  return origin;
}

}  // namespace kube::detail
