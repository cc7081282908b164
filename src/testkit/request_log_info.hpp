// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http_message.hpp"

#include <kube/testkit/request_log.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::detail {

/// What a request asks for, as far as method and target tell (RQ-1, RQ-2). Any target has an answer; whether it
/// makes sense is for the engine to say.
[[nodiscard]] RequestInfo describe_request(const ServerRequest& request);

/// The first value of a query parameter, decoded, if it is there.
[[nodiscard]] std::optional<std::string> query_parameter(std::string_view query,
                                                         std::string_view name);
/// RQ-5.
[[nodiscard]] bool query_flag(std::string_view query, std::string_view name);

}  // namespace kube::testkit::detail
