// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/error.hpp>

#include <string>
#include <string_view>

#include "origin.hpp"

/// Error messages for connections that cannot be established: the peer, the cause, and the next
/// step.
namespace kube::detail {

/// The host, or the proxy's host, has no address.
[[nodiscard]] TransportError lookup_failed(const Origin& origin, std::string_view detail);
/// No address accepted a connection; `code` is an errno.
[[nodiscard]] TransportError connect_failed(const Origin& origin, int code,
                                            std::string_view detail);
/// The proxy refused to open a tunnel.
[[nodiscard]] TransportError proxy_refused(const Origin& origin, std::string_view advice,
                                           std::string_view detail);

struct TlsFailure {
  /// "https://10.0.0.1:6443"
  std::string_view place;
  /// "server" or "proxy"
  std::string_view role;
  /// X509_V_...
  long verify_result = 0;
  /// The TLS alert of the peer, or null.
  const char* alert = nullptr;
  /// The reason given by OpenSSL.
  std::string_view reason;
  bool has_certificate = false;
};
[[nodiscard]] TransportError tls_failed(const TlsFailure& failure);

}  // namespace kube::detail
