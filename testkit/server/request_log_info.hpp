// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/message.hpp"

#include <kube/testkit/request_log.hpp>

namespace kube::testkit::detail {

/// What a request asks for, as far as method and target tell (RQ-1, RQ-2). Any target has an answer; whether it
/// makes sense is for the engine to say.
[[nodiscard]] RequestInfo describe_request(const ServerRequest& request);

}  // namespace kube::testkit::detail
