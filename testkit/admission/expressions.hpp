// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Reports CEL expressions of a definition or an admission policy that this server cannot evaluate
/// (CE-11), and policies that it does not apply: as warnings or, if `strict`, as ApiError 422.
void report_missing_expressions(RestRequest& request, bool strict, const Value& object);

}  // namespace kube::testkit::detail
