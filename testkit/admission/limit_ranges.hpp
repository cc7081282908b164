// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// The LimitRanger plugin: limit ranges of a namespace, for pods and claims (AD-1, AD-2).
namespace kube::testkit::detail {

/// Sets missing requests and limits of a pod's containers, and records that in an annotation.
void apply_limit_ranges(Services& services, Value& pod);
/// Throws ApiError 403 for a pod or claim outside the limits.
void check_limit_ranges(Services& services, const Resource& resource, const Value& object);

}  // namespace kube::testkit::detail
