// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "testkit/admission/pod_resources.hpp"

/// How objects count for resource quotas (AD-7).
namespace kube::testkit::detail {

/// Amounts that an object uses, by the names that quotas have for them: "pods", "requests.cpu", "count/jobs.batch".
[[nodiscard]] ResourceAmounts usage_of(const GroupResource& resource, const Value& object);
/// Whether the scopes of a quota include an object.
[[nodiscard]] bool is_in_scope(const Value& quota, const GroupResource& resource,
                               const Value& object);
/// The resource whose objects a limit is about: pods for "requests.cpu", jobs.batch for "count/jobs.batch".
[[nodiscard]] GroupResource counted_resource(std::string_view limit);
/// Amounts that the containers of a pod leave out although a quota limits them, as a request to add them: "must specify
/// limits.cpu for: a,b". Empty if nothing is missing.
[[nodiscard]] std::string missing_amounts(const ResourceAmounts& hard, const Value& pod);

}  // namespace kube::testkit::detail
