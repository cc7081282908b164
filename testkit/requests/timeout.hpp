// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <optional>

#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// Thrown when a request exceeds its own `timeout` parameter (RQ-8).
struct RequestTimeout {};

/// Returns the `timeout` parameter of a request; negative values are ignored. Throws ApiError 400
/// if it is malformed.
[[nodiscard]] std::optional<Clock::Duration> parse_request_timeout(const Query& query);

}  // namespace kube::testkit::detail
