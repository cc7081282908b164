// SPDX-License-Identifier: Apache-2.0
#include "proxy.hpp"

#include "base/ip_address.hpp"

#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace kube::detail {

namespace {

bool same_network(const IpAddress& a, const IpAddress& b, int bits) {
  const auto whole = static_cast<std::size_t>(bits / 8);
  if (std::memcmp(a.bytes.data(), b.bytes.data(), whole) != 0) return false;
  if (bits % 8 == 0) return true;
  return ((a.bytes[whole] ^ b.bytes[whole]) >> (8 - bits % 8)) == 0;
}

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// Removes a ":port". Returns false if there is one and it differs from `port`.
bool strip_port(std::string_view& entry, int port) {
  const auto colon = entry.rfind(':');
  if (colon == std::string_view::npos || parse_ip_address(entry)) return true;
  const auto number = parse_number(entry.substr(colon + 1));
  if (!number) return true;
  entry = entry.substr(0, colon);
  return *number == port;
}

bool covers(std::string_view entry, std::string_view host,
            const std::optional<IpAddress>& address) {
  if (entry == "*") return true;
  if (const auto slash = entry.find('/'); slash != std::string_view::npos) {
    const auto network = parse_ip_address(entry.substr(0, slash));
    const auto bits = parse_number(entry.substr(slash + 1));
    if (!network || !bits || !address || network->v4 != address->v4) return false;
    if (*bits < 0 || *bits > (network->v4 ? 32 : 128)) return false;
    return same_network(*network, *address, network->v4 ? *bits + 96 : *bits);
  }
  if (const auto one = parse_ip_address(entry)) return address && one->bytes == address->bytes;
  if (address) return false;
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  const bool below_only = entry.starts_with('.');
  if (!below_only && same_text(entry, host)) return true;
  const std::size_t dot = below_only ? 0 : 1;
  return host.size() > entry.size() + dot &&
         same_text(host.substr(host.size() - entry.size()), entry) &&
         (below_only || host[host.size() - entry.size() - 1] == '.');
}

std::string variable(const char* capitals, const char* small) {
  for (const char* name : {capitals, small}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

bool excluded_from_proxy(std::string_view no_proxy, std::string_view host, int port) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto address = parse_ip_address(host);
  if (same_text(host, "localhost") || (address && address->is_loopback())) return true;
  while (!no_proxy.empty()) {
    const auto end = no_proxy.find_first_of(", ");
    std::string_view entry = no_proxy.substr(0, end);
    no_proxy.remove_prefix(end == std::string_view::npos ? no_proxy.size() : end + 1);
    if (!entry.empty() && strip_port(entry, port) && !entry.empty() &&
        covers(entry, host, address)) {
      return true;
    }
  }
  return false;
}

std::string proxy_from_environment(std::string_view scheme, std::string_view host, int port) {
  std::string proxy = scheme == "https" ? variable("HTTPS_PROXY", "https_proxy")
                                        : variable("HTTP_PROXY", "http_proxy");
  if (proxy.empty() || excluded_from_proxy(variable("NO_PROXY", "no_proxy"), host, port)) return {};
  return proxy;
}

}  // namespace kube::detail
