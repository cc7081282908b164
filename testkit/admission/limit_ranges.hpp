// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Limit ranges of a namespace, applied to its pods and claims (AD-1, AD-2).
namespace kube::testkit::detail {

/// Gives the containers of a pod the requests and limits that they have not, and says so in an annotation.
void apply_limit_ranges(Services& services, Value& pod);
/// Throws ApiError 403 about a pod or claim that is too small or too large.
void check_limit_ranges(Services& services, const Resource& resource, const Value& object);

}  // namespace kube::testkit::detail
