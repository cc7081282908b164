// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// Returns whether NO_PROXY covers the host. Entries are "*", a domain ("example.com" includes
/// subdomains, ".example.com" means only those), an address, or a network ("10.0.0.0/8"), each
/// optionally limited to a ":port". localhost and loopback addresses are always covered.
[[nodiscard]] bool excluded_from_proxy(std::string_view no_proxy, std::string_view host, int port);

/// Returns the proxy that the environment sets for the scheme and host, or empty: HTTPS_PROXY or
/// HTTP_PROXY, in upper or lower case, unless NO_PROXY covers the host.
[[nodiscard]] std::string proxy_from_environment(std::string_view scheme, std::string_view host,
                                                 int port);

}  // namespace kube::detail
