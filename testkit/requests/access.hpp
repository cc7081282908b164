// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "testkit/requests/account_tokens.hpp"
#include "testkit/requests/engine.hpp"
#include "testkit/http/message.hpp"
#include "testkit/requests/routing.hpp"

/// Who asks, and whether they may (AU-1 to AU-6).
namespace kube::testkit::detail {

/// The beginning of a WebSocket subprotocol that carries a bearer token, as browsers cannot set headers.
inline constexpr std::string_view kBearerProtocol = "base64url.bearer.authorization.k8s.io.";

/// The bearer token of a request: of its header Authorization or, as browsers cannot set that for a WebSocket, among its
/// subprotocols. Nothing if it has none; empty if it cannot be read.
[[nodiscard]] std::optional<std::string> bearer_token(const Headers& headers);

/// The user of a request, by a token of the options or of a service account, or by certificate. Throws ApiError 401.
[[nodiscard]] User authenticate(const EngineOptions& options, const AccountTokens& accounts,
                                const ServerRequest& request);

/// The user that the request is made for: its own, or one that it impersonates. Throws ApiError 400 or 403.
[[nodiscard]] User impersonate(const EngineOptions& options, const ServerRequest& request,
                               User user);

/// Throws ApiError 403 if the user may not do that.
void authorize_route(const EngineOptions& options, const User& user, const Route& route,
                     const std::string& path);

}  // namespace kube::testkit::detail
