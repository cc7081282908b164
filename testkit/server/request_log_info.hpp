// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/message.hpp"

#include <kube/testkit/request_log.hpp>

namespace kube::testkit::detail {

/// Derives the attributes of a request from its method and target (RQ-1, RQ-2). Does not validate
/// the target; that is left to the engine.
[[nodiscard]] RequestInfo describe_request(const ServerRequest& request);

}  // namespace kube::testkit::detail
