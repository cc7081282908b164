// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/origin.hpp"

#include "base/text.hpp"
#include <kube/api/errors.hpp>
#include <kube/api/validation.hpp>

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "testkit/validation/field_error.hpp"

namespace kube::testkit::detail {
namespace {

using kube::detail::equals_ignoring_case;
using kube::detail::lower_case;
using kube::detail::quoted;

constexpr std::string_view kRemedy =
    "start the server with that host allowed (kubecxx serve --allow-host NAME, "
    "ApiServerOptions::allow_hosts)";

/// An IPv6 or IPv4-mapped address, so that each address has one form.
using Address = std::array<unsigned char, 16>;

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address[10] = address[11] = 0xff;
  if (::inet_pton(AF_INET, text.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool is_mapped(const Address& address) {
  return std::all_of(address.begin(), address.begin() + 10, [](auto byte) { return byte == 0; }) &&
         address[10] == 0xff && address[11] == 0xff;
}

bool is_loopback(const Address& address) {
  if (is_mapped(address)) return address[12] == 127;
  Address one{};
  one[15] = 1;
  return address == one;
}

bool is_unspecified(const Address& address) {
  const auto first = is_mapped(address) ? address.begin() + 12 : address.begin();
  return std::all_of(first, address.end(), [](auto byte) { return byte == 0; });
}

bool is_named(const OriginPolicy& policy, const std::string& host) {
  return std::ranges::any_of(policy.allow_hosts,
                             [&](const std::string& name) { return host_of(name) == host; });
}

bool is_own_host(const OriginPolicy& policy, const std::string& host) {
  // Resolvers map these names to the loopback interface.
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (is_named(policy, host)) return true;
  const std::optional<Address> address = parse_address(host);
  if (!address) return false;
  if (is_loopback(*address)) return true;
  const std::optional<Address> listen = parse_address(policy.listen);
  // After DNS rebinding a page still sends its name, never an address.
  return listen && (*listen == *address || is_unspecified(*listen));
}

std::string_view authority_of(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

/// Normalizes for comparison: "HOST" becomes "host:80".
std::string with_port(std::string_view authority, bool tls) {
  std::string text = lower_case(authority);
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  return has_port ? text : text + (tls ? ":443" : ":80");
}

ApiError refusal(std::string message) {
  return ApiError{failure_status(403, "Forbidden", "request refused: " + std::move(message))};
}

void check_host(const OriginPolicy& policy, std::string_view given) {
  if (is_own_host(policy, host_of(given))) return;
  throw refusal(
      fmt::format("{} is not a name of this server; use localhost or the server's address, or {}",
                  quoted(given), kRemedy));
}

/// Returns true for a page of an allowed host, false for a page of the server itself. Throws for
/// all others.
bool check_page(const OriginPolicy& policy, const std::string* host, std::string_view origin) {
  const std::string_view authority = authority_of(origin);
  if (!authority.empty() && is_named(policy, host_of(authority))) return true;
  if (!authority.empty() && host != nullptr &&
      with_port(authority, policy.tls) == with_port(*host, policy.tls)) {
    return false;
  }
  throw refusal(fmt::format("sent by a web page of {}, which is not an allowed origin; {}",
                            quoted(origin), kRemedy));
}

}  // namespace

std::string host_of(std::string_view authority) {
  std::string_view host = kube::detail::trimmed(authority, kube::detail::kBlank);
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
  } else if (std::ranges::count(host, ':') == 1) {
    port = host.substr(host.find(':'));
    host = host.substr(0, host.find(':'));
  }
  if (!port.empty() &&
      (port.front() != ':' || port.find_first_not_of("0123456789", 1) != std::string_view::npos)) {
    return {};
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return lower_case(host);
}

void check_origin(const OriginPolicy& policy, const ServerRequest& request) {
  const bool anonymous =
      find_header(request.headers, "Authorization") == nullptr && !request.certificate;
  const std::string* host = find_header(request.headers, "Host");
  bool from_page = false;
  bool named = false;
  bool cross_site = false;
  for (const auto& [name, value] : request.headers) {
    if (equals_ignoring_case(name, "host")) {
      // All Host headers are checked: it is unknown which one a proxy has used.
      if (!policy.tls || anonymous) check_host(policy, value);
    } else if (equals_ignoring_case(name, "origin")) {
      from_page = true;
      named = check_page(policy, host, value);
    } else if (equals_ignoring_case(name, "sec-fetch-site")) {
      cross_site = cross_site || equals_ignoring_case(value, "cross-site");
    }
  }
  if (cross_site && !named) {
    throw refusal(fmt::format(
        "sent by a web page of another site (Sec-Fetch-Site: cross-site); type the address into "
        "the browser, or {}",
        kRemedy));
  }
  if (from_page && !request.body.empty() &&
      find_header(request.headers, "Content-Type") == nullptr) {
    throw ApiError{failure_status(
        415, "UnsupportedMediaType",
        "a web page has sent a body without a content type; set Content-Type: application/json")};
  }
}

}  // namespace kube::testkit::detail
