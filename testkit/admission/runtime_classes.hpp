// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// The RuntimeClass plugin (AD-4).
namespace kube::testkit::detail {

/// Applies overhead, node selector and tolerations of its class to a new pod. Throws ApiError 403
/// if the class does not exist or the pod contradicts it.
void apply_runtime_class(Services& services, const Resource& resource, Value& pod);
/// Throws ApiError 403 if a pod has an overhead that differs from that of its class.
void check_overhead(Services& services, const Resource& resource, const Value& pod);

}  // namespace kube::testkit::detail
