// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "testkit/http/message.hpp"
#include "testkit/requests/account_tokens.hpp"
#include "testkit/requests/engine.hpp"
#include "testkit/requests/routing.hpp"

/// Authentication, impersonation and authorization (AU-1 to AU-6).
namespace kube::testkit::detail {

/// The prefix of a WebSocket subprotocol that carries a bearer token, as browsers cannot set
/// headers.
inline constexpr std::string_view kBearerProtocol = "base64url.bearer.authorization.k8s.io.";

/// Returns the bearer token of a request, from the Authorization header or from the WebSocket
/// subprotocols. Returns nullopt if there is none, and an empty token if it is malformed.
[[nodiscard]] std::optional<std::string> bearer_token(const Headers& headers);

/// Returns the user of a request, identified by a configured token, a service account token or a
/// client certificate. Throws ApiError 401.
[[nodiscard]] User authenticate(const EngineOptions& options, const AccountTokens& accounts,
                                const ServerRequest& request);

/// Returns the effective user of a request: `user`, or the user that the request impersonates.
/// Throws ApiError 400 or 403.
[[nodiscard]] User impersonate(const EngineOptions& options, const ServerRequest& request,
                               User user);

/// Throws ApiError 403 if the user is not authorized.
void authorize_route(const EngineOptions& options, const User& user, const Route& route,
                     const std::string& path);

}  // namespace kube::testkit::detail
