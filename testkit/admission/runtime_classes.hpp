// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Runtime classes (AD-4).
namespace kube::testkit::detail {

/// Gives a new pod the overhead, node selector and tolerations of its class. Throws ApiError 403 if there is no such
/// class, or if the pod contradicts it.
void apply_runtime_class(Services& services, const Resource& resource, Value& pod);
/// Throws ApiError 403 if a pod has an overhead that its class has not.
void check_overhead(Services& services, const Resource& resource, const Value& pod);

}  // namespace kube::testkit::detail
