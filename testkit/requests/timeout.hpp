// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <optional>

#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// Thrown when a request cannot be answered within the time that it gave itself (RQ-8).
struct RequestTimeout {};

/// `timeout` of a request; a negative one does not count. Throws ApiError 400 if it is malformed.
[[nodiscard]] std::optional<Clock::Duration> parse_request_timeout(const Query& query);

}  // namespace kube::testkit::detail
