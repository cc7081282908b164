// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/admission/pod_resources.hpp"

/// Usage of resource quotas (AD-7).
namespace kube::testkit::detail {

/// Returns the usage of an object, under the names that quotas use: "pods", "requests.cpu",
/// "count/jobs.batch".
[[nodiscard]] ResourceAmounts usage_of(const GroupResource& resource, const Value& object);
/// Returns whether an object is in the scopes of a quota.
[[nodiscard]] bool is_in_scope(const Value& quota, const GroupResource& resource,
                               const Value& object);
/// Returns the resource whose objects a limit counts: pods for "requests.cpu", jobs.batch for
/// "count/jobs.batch".
[[nodiscard]] GroupResource counted_resource(std::string_view limit);
/// Returns an error about amounts that a quota limits and the containers of a pod do not specify:
/// "must specify limits.cpu for: a,b". Empty if none is missing.
[[nodiscard]] std::string missing_amounts(const ResourceAmounts& hard, const Value& pod);

}  // namespace kube::testkit::detail
