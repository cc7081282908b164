// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "testkit/http/message.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Answers `/`, `/api`, `/apis`, `/apis/<group>`, `/api/v1` and `/apis/<group>/<version>` (DI-1 to DI-4);
/// nothing if the path is none of them. Throws ApiError 406.
[[nodiscard]] std::optional<ServerResponse> serve_discovery(Services& services,
                                                            const ServerRequest& request,
                                                            const RequestUrl& url, bool pretty);

/// Answers `/openapi/v2`, `/openapi/v3` and what is below it (OA-1, OA-2); nothing for other paths.
[[nodiscard]] std::optional<ServerResponse> serve_openapi(Services& services,
                                                          const ServerRequest& request,
                                                          const RequestUrl& url, bool pretty);

}  // namespace kube::testkit::detail
