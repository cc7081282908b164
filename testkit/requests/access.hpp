// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/http/message.hpp"
#include "testkit/requests/routing.hpp"
#include "testkit/requests/services.hpp"

/// Authentication and authorization (AU-1 to AU-5, RB-1 to RB-23).
namespace kube::testkit::detail {

inline constexpr const char* kAnonymous = "system:anonymous";
inline constexpr const char* kAuthenticated = "system:authenticated";
inline constexpr const char* kUnauthenticated = "system:unauthenticated";

/// The prefix of a WebSocket subprotocol that carries a bearer token, as browsers cannot set
/// headers.
inline constexpr std::string_view kBearerProtocol = "base64url.bearer.authorization.k8s.io.";

/// Returns the bearer token of a request, from the Authorization header or from the WebSocket
/// subprotocols. Returns nullopt if there is none, and an empty token if it is malformed.
[[nodiscard]] std::optional<std::string> bearer_token(const Headers& headers);
/// Returns the values of all headers of that name.
[[nodiscard]] std::vector<std::string> header_values(const Headers& headers, std::string_view name);

/// Adds a group to the user, unless he has it.
void add_group(User& user, const char* group);
/// Returns the user of a bearer token: a configured one, or a service account.
[[nodiscard]] std::optional<User> user_of_token(const Services& services, std::string_view token);
/// Returns the user of a request, identified by a bearer token or a client certificate. Throws
/// ApiError 401.
[[nodiscard]] User authenticate(const Services& services, const ServerRequest& request);

/// Returns the attributes of a request of `user`.
[[nodiscard]] AccessRequest access_of(User user, const Route& route, const std::string& path);
/// Returns the error 403 for a request that is not allowed (RB-20 to RB-22).
[[nodiscard]] ApiError forbidden_access(const AccessRequest& access, std::string_view reason);
/// Returns the error 403, or nullopt if the request is allowed.
[[nodiscard]] std::optional<ApiError> refusal(const Services& services,
                                              const AccessRequest& access);
/// Throws ApiError 403 if the request is not allowed.
void require_access(const Services& services, const AccessRequest& access);
/// Does the same for a request that has arrived: the authorizer of the options is not asked about
/// health checks and the version (HE-1).
void authorize_request(const Services& services, const AccessRequest& access);

}  // namespace kube::testkit::detail
