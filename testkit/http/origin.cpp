// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/origin.hpp"

#include "base/ip_address.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include <kube/api/errors.hpp>
#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "testkit/validation/field_error.hpp"

namespace kube::testkit::detail {
namespace {

using kube::detail::equals_ignoring_case;
using kube::detail::lower_case;
using kube::detail::quoted;

constexpr std::string_view kRemedy =
    "start the server with that host allowed (kubecxx serve --allow-host NAME, "
    "ApiServerOptions::allow_hosts)";

bool is_named(const OriginPolicy& policy, const std::string& host) {
  return std::ranges::any_of(policy.allow_hosts,
                             [&](const std::string& name) { return host_of(name) == host; });
}

bool is_own_host(const OriginPolicy& policy, const std::string& host) {
  // Resolvers map these names to the loopback interface.
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (is_named(policy, host)) return true;
  const auto address = kube::detail::parse_ip_address(host);
  if (!address) return false;
  if (address->is_loopback()) return true;
  const auto listen = kube::detail::parse_ip_address(policy.listen);
  // After DNS rebinding a page still sends its name, never an address.
  return listen && (listen->bytes == address->bytes || listen->is_unspecified());
}

/// Returns the authority of an origin, which has a scheme and nothing else; else empty.
std::string_view authority_of(std::string_view origin) {
  const kube::detail::UrlParts parts = kube::detail::split_url(origin);
  const bool is_origin = parts.scheme && !parts.user_info && parts.path.empty();
  return is_origin ? parts.authority : std::string_view{};
}

/// Normalizes for comparison: "HOST" becomes "host:80".
std::string with_port(std::string_view authority, bool tls) {
  const auto parts = kube::detail::split_authority(authority);
  if (!parts) return lower_case(authority);
  return fmt::format("{}:{}", kube::detail::bracketed(lower_case(parts->host)),
                     parts->port.value_or(tls ? "443" : "80"));
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
  const auto parts =
      kube::detail::split_authority(kube::detail::trimmed(authority, kube::detail::kBlank));
  if (!parts) return {};
  const std::string_view port = parts->port.value_or(std::string_view{});
  if (port.find_first_not_of("0123456789") != std::string_view::npos) return {};
  std::string_view host = parts->host;
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
