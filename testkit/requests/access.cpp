// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "testkit/requests/base64url.hpp"
#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

namespace {

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

}  // namespace

std::vector<std::string> header_values(const Headers& headers, std::string_view name) {
  std::vector<std::string> values;
  for (const Header& header : headers) {
    if (find_header({header}, name) != nullptr) values.push_back(header.value);
  }
  return values;
}

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

void add_group(User& user, const char* group) {
  if (std::ranges::find(user.groups, group) == user.groups.end()) user.groups.emplace_back(group);
}

std::optional<User> user_of_token(const Services& services, std::string_view token) {
  if (auto user = services.user_tokens.find(token)) {
    add_group(*user, kAuthenticated);
    return user;
  }
  if (auto holder = services.account_tokens.check(token, {kTokenIssuer})) {
    return std::move(holder->user);
  }
  return std::nullopt;
}

User authenticate(const Services& services, const ServerRequest& request) {
  const EngineOptions& options = services.options;
  const std::string* authorization = find_header(request.headers, "Authorization");
  const std::optional<std::string> token = bearer_token(request.headers);
  if (token) {
    if (auto user = user_of_token(services, *token)) return std::move(*user);
  }
  if (request.certificate && options.client_certificates &&
      !request.certificate->common_name.empty()) {
    User user{.name = request.certificate->common_name,
              .uid = {},
              .groups = request.certificate->organizations};
    add_group(user, kAuthenticated);
    return user;
  }
  // A certificate without a name could not be verified (AU-5).
  if (authorization != nullptr || token || request.certificate || !options.allow_anonymous) {
    throw unauthorized();
  }
  return {.name = kAnonymous, .uid = {}, .groups = {kUnauthenticated}};
}

AccessRequest access_of(User user, const Route& route, const std::string& path) {
  AccessRequest access{.user = std::move(user),
                       .verb = route.verb,
                       .group = route.group,
                       .version = route.version,
                       .resource = route.resource,
                       .subresource = route.subresource,
                       .namespace_ = route.namespace_,
                       .name = route.authorized_name,
                       .path = path};
  if (route.resource == "namespaces" && !route.name.empty()) access.namespace_ = route.name;
  return access;
}

ApiError forbidden_access(const AccessRequest& access, std::string_view reason) {
  std::string why = describe(access);
  if (!reason.empty()) why += fmt::format(": {}", reason);
  if (access.is_resource()) return forbidden({access.group, access.resource}, access.name, why);
  meta::v1::Status status = failure_status(403, "Forbidden", "forbidden: " + why);
  status.details.emplace();
  return ApiError{std::move(status)};
}

std::optional<ApiError> refusal(const Services& services, const AccessRequest& access) {
  const AccessDecision decision = services.authorize(access);
  if (decision.allowed) return std::nullopt;
  return forbidden_access(access, decision.reason);
}

void require_access(const Services& services, const AccessRequest& access) {
  if (const auto error = refusal(services, access)) throw *error;
}

void authorize_request(const Services& services, const AccessRequest& access) {
  const std::string& path = access.path;
  const bool open = !access.is_resource() && (path == "/healthz" || path == "/livez" ||
                                              path == "/readyz" || path == "/version" ||
                                              path == "/version/");
  if (open && !services.rbac) return;
  require_access(services, access);
}

}  // namespace kube::testkit::detail
