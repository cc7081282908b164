// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Tells of CEL expressions in a definition or an admission policy that cannot be evaluated here (CE-11), and of policies
/// that are not applied: by warnings, or if `strict` by ApiError 422.
void report_missing_expressions(RestRequest& request, bool strict, const Value& object);

}  // namespace kube::testkit::detail
