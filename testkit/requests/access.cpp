// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/access.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "testkit/requests/base64url.hpp"
#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kAnonymous = "system:anonymous";
constexpr const char* kAuthenticated = "system:authenticated";

User authenticated(User user) {
  if (std::ranges::find(user.groups, kAuthenticated) == user.groups.end()) {
    user.groups.emplace_back(kAuthenticated);
  }
  return user;
}

std::string describe(const AccessRequest& access) {
  if (!access.is_resource()) {
    return fmt::format("User \"{}\" cannot {} path \"{}\"", access.user.name, access.verb,
                       access.path);
  }
  const std::string resource =
      access.subresource.empty() ? access.resource : access.resource + '/' + access.subresource;
  const std::string where = access.namespace_.empty()
                                ? "at the cluster scope"
                                : fmt::format("in the namespace \"{}\"", access.namespace_);
  return fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}",
                     access.user.name, access.verb, resource, access.group, where);
}

void require(const EngineOptions& options, const AccessRequest& access) {
  if (!options.authorize) return;
  const AccessDecision decision = options.authorize(access);
  if (decision.allowed) return;
  std::string why = describe(access);
  if (!decision.reason.empty()) why += ": " + decision.reason;
  if (!access.is_resource()) {
    throw ApiError{failure_status(403, "Forbidden", "forbidden: " + why)};
  }
  throw forbidden({access.group, access.resource}, access.name, why);
}

/// Returns `acme.com/project` for the header `Impersonate-Extra-Acme.com%2fproject`; empty for
/// other headers.
std::string extra_key(std::string_view name) {
  constexpr std::string_view kPrefix = "impersonate-extra-";
  const std::string lower = kube::detail::lower_case(name);
  if (!lower.starts_with(kPrefix)) return {};
  const std::string key = lower.substr(kPrefix.size());
  return kube::detail::lower_case(kube::detail::percent_decode(key, false).value_or(key));
}

std::vector<std::string> header_values(const Headers& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const Header& header : headers) {
    if (find_header({header}, name) != nullptr) values.push_back(header.value);
  }
  return values;
}

}  // namespace

std::optional<std::string> bearer_token(const Headers& headers) {
  const std::string* authorization = find_header(headers, "Authorization");
  if (authorization != nullptr) {
    if (!authorization->starts_with("Bearer ")) return std::nullopt;
    return authorization->substr(7);
  }
  for (const std::string& value : header_values(headers, "Sec-WebSocket-Protocol")) {
    const std::size_t at = value.find(kBearerProtocol);
    if (at == std::string::npos) continue;
    std::string_view encoded = std::string_view{value}.substr(at + kBearerProtocol.size());
    encoded = encoded.substr(0, encoded.find_first_of(", \t"));
    return base64url_decode(encoded).value_or("");
  }
  return std::nullopt;
}

User authenticate(const EngineOptions& options, const AccountTokens& accounts,
                  const ServerRequest& request) {
  const std::string* authorization = find_header(request.headers, "Authorization");
  const std::optional<std::string> token = bearer_token(request.headers);
  if (token) {
    const auto found = options.tokens.find(*token);
    if (found != options.tokens.end()) return authenticated(found->second);
    if (auto holder = accounts.check(*token, {kTokenIssuer})) return std::move(holder->user);
  }
  if (request.certificate && options.client_certificates &&
      !request.certificate->common_name.empty()) {
    return authenticated({.name = request.certificate->common_name,
                          .uid = {},
                          .groups = request.certificate->organizations});
  }
  // A certificate without a name could not be verified (AU-5).
  if (authorization != nullptr || token || request.certificate || !options.allow_anonymous) {
    throw unauthorized();
  }
  return {.name = kAnonymous, .uid = {}, .groups = {"system:unauthenticated"}};
}

User impersonate(const EngineOptions& options, const ServerRequest& request, User user) {
  const std::string* name = find_header(request.headers, "Impersonate-User");
  const std::string* uid = find_header(request.headers, "Impersonate-Uid");
  const std::vector<std::string> groups = header_values(request.headers, "Impersonate-Group");
  const bool extra = std::ranges::any_of(
      request.headers, [](const Header& header) { return !extra_key(header.name).empty(); });
  if (name == nullptr || name->empty()) {
    if (uid != nullptr || !groups.empty() || extra) {
      throw bad_request("requested impersonation without impersonating a user");
    }
    return user;
  }
  const auto need = [&](const char* group, const char* resource, const std::string& value,
                        const std::string& namespace_ = {}) {
    require(options, {.user = user,
                      .verb = "impersonate",
                      .group = group,
                      .version = {},
                      .resource = resource,
                      .subresource = {},
                      .namespace_ = namespace_,
                      .name = value,
                      .path = {}});
  };
  constexpr std::string_view kAccount = "system:serviceaccount:";
  const std::string account =
      name->starts_with(kAccount) ? name->substr(kAccount.size()) : std::string{};
  const std::size_t colon = account.find(':');
  User other{.name = *name, .uid = {}, .groups = groups};
  if (colon != std::string::npos) {
    const std::string namespace_ = account.substr(0, colon);
    need("", "serviceaccounts", account.substr(colon + 1), namespace_);
    if (groups.empty()) {
      other.groups = {"system:serviceaccounts", "system:serviceaccounts:" + namespace_};
    }
  } else {
    need("", "users", *name);
  }
  for (const std::string& group : groups) need("", "groups", group);
  if (uid != nullptr) {
    need("authentication.k8s.io", "uids", *uid);
    other.uid = *uid;
  }
  for (const Header& header : request.headers) {
    const std::string key = extra_key(header.name);
    if (key.empty()) continue;
    require(options, {.user = user,
                      .verb = "impersonate",
                      .group = "authentication.k8s.io",
                      .version = {},
                      .resource = "userextras",
                      .subresource = key,
                      .namespace_ = {},
                      .name = header.value,
                      .path = {}});
    other.extra[key].push_back(header.value);
  }
  return other.name == kAnonymous ? other : authenticated(std::move(other));
}

void authorize_route(const EngineOptions& options, const User& user, const Route& route,
                     const std::string& path) {
  if (!options.authorize) return;
  // Health checks and version need no authorization (HE-1).
  if (!route.is_resource && (path == "/healthz" || path == "/livez" || path == "/readyz" ||
                             path == "/version" || path == "/version/")) {
    return;
  }
  AccessRequest access{.user = user,
                       .verb = route.verb,
                       .group = route.group,
                       .version = route.version,
                       .resource = route.resource,
                       .subresource = route.subresource,
                       .namespace_ = route.namespace_,
                       .name = route.authorized_name,
                       .path = path};
  if (route.resource == "namespaces" && !route.name.empty()) access.namespace_ = route.name;
  require(options, access);
}

}  // namespace kube::testkit::detail
