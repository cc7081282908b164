// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "testkit/http/message.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Serves `/`, `/api`, `/apis`, `/apis/<group>`, `/api/v1` and `/apis/<group>/<version>` (DI-1 to
/// DI-4). Returns nullopt for other paths. Throws ApiError 406.
[[nodiscard]] std::optional<ServerResponse> serve_discovery(Services& services,
                                                            const ServerRequest& request,
                                                            const RequestUrl& url, bool pretty);

/// Serves `/openapi/v2`, `/openapi/v3` and the paths below it (OA-1, OA-2). Returns nullopt for
/// other paths.
[[nodiscard]] std::optional<ServerResponse> serve_openapi(Services& services,
                                                          const ServerRequest& request,
                                                          const RequestUrl& url, bool pretty);

}  // namespace kube::testkit::detail
