// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// The Priority plugin (AD-3).
namespace kube::testkit::detail {

/// Sets priority and preemption policy of a new pod from its class or the default class. Throws
/// ApiError 403 if the class does not exist or the pod contradicts it.
void resolve_priority(Services& services, const Resource& resource, Value& pod);
/// Throws ApiError 403 if a class would become a second default.
void check_default_priority(Services& services, const Resource& resource, const Value* live,
                            const Value& priority_class);

}  // namespace kube::testkit::detail
