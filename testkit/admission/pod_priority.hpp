// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/requests/services.hpp"

/// Priority classes (AD-3).
namespace kube::testkit::detail {

/// Sets priority and preemption policy of a new pod by its class, or by the default class if it names none. Throws
/// ApiError 403 if there is no such class, or if the pod says otherwise by itself.
void resolve_priority(Services& services, const Resource& resource, Value& pod);
/// Throws ApiError 403 if a class wants to be the default beside another one.
void check_default_priority(Services& services, const Resource& resource, const Value* live,
                            const Value& priority_class);

}  // namespace kube::testkit::detail
