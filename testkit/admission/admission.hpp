// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>

#include "testkit/requests/failures.hpp"
#include "testkit/requests/services.hpp"

/// The admission plugins that a real server enables by default, except webhooks and policies.
///
/// A write passes through admit_*(), which may change the object, then validation, then check_*().
/// All of them throw ApiError 403.
namespace kube::testkit::detail {

/// Mutates a new object of a built-in kind: requests and limits of containers, service account,
/// priority, tolerations, overhead, class, finalizers (AD-1 to AD-6).
void admit_new(Services& services, const Resource& resource, Value& object);
/// Mutates a changed object: a pod keeps priority and preemption policy, and gets tolerations.
void admit_change(const Resource& resource, const Value& live, Value& next);
/// Refuses objects that are valid but not allowed. `live` is the stored object on update, else
/// null. Quotas are enforced by ResourceQuotas.
void check_admitted(Services& services, const Resource& resource, std::string_view subresource,
                    const Value* live, const Value& object);

/// Returns the error of admit_*(): `pods "web-0" is forbidden: <why>`. An object with a generated
/// name is identified by its generateName, because a real server generates names only afterwards.
[[nodiscard]] ApiError not_admitted(const Resource& resource, const Value& object,
                                    std::string_view why);
/// Returns the error of check_*(), with the name of the object.
[[nodiscard]] ApiError not_allowed(const Resource& resource, const Value& object,
                                   std::string_view why);

}  // namespace kube::testkit::detail
