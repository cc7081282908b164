// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string_view>

#include "testkit/requests/failures.hpp"
#include "testkit/requests/services.hpp"

/// The admission plugins that a real server has switched on, except those that ask others (webhooks, policies).
///
/// A write goes through admit_*(), which may change the object, then through validation, then through check_*(). All of
/// them throw ApiError 403.
namespace kube::testkit::detail {

/// Changes a new object of a built-in kind: limits and requests of containers, account, priority, tolerations,
/// overhead, class, finalizers (AD-1 to AD-6).
void admit_new(Services& services, const Resource& resource, Value& object);
void admit_change(const Resource& resource, const Value& live, Value& next);
/// Refuses what is valid, but not allowed here. `live` is the stored object on update, else null. Quotas are not
/// looked at; see ResourceQuotas.
void check_admitted(Services& services, const Resource& resource, std::string_view subresource,
                    const Value* live, const Value& object);

/// The refusal of admit_*(): `pods "web-0" is forbidden: <why>`. An object whose name was generated goes by its
/// generateName, as a real server makes up names only afterwards.
[[nodiscard]] ApiError not_admitted(const Resource& resource, const Value& object,
                                    std::string_view why);
/// The refusal of a check, by the name of the object.
[[nodiscard]] ApiError not_allowed(const Resource& resource, const Value& object,
                                   std::string_view why);

}  // namespace kube::testkit::detail
