// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Reports parts of an object that a real server acts on and this one does not: CEL expressions
/// that it cannot evaluate (CE-11), webhooks, aggregated API servers (BK-15). As warnings or, if
/// `strict`, as ApiError 422.
void report_unsupported(RestRequest& request, bool strict, const Value& object);

}  // namespace kube::testkit::detail
