// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

/// Whether an entry of NO_PROXY covers the host: "*", a domain ("example.com" with all below, ".example.com"
/// only what is below), an address, a network ("10.0.0.0/8"), each with ":port" if only that is meant.
/// localhost and loopback addresses are always covered.
[[nodiscard]] bool excluded_from_proxy(std::string_view no_proxy, std::string_view host, int port);

/// The proxy that the environment names for the scheme and host, or empty: HTTPS_PROXY or HTTP_PROXY, in
/// capitals or not, unless NO_PROXY covers the host.
[[nodiscard]] std::string proxy_from_environment(std::string_view scheme, std::string_view host,
                                                 int port);

}  // namespace kube::detail
