// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity.hpp>
#include <kube/object/value.hpp>

#include <map>
#include <string>
#include <string_view>

/// How much a pod asks for and may use.
namespace kube::testkit::detail {

/// Amounts by the name of the resource, such as "cpu".
using ResourceAmounts = std::map<std::string, Quantity, std::less<>>;

/// Amounts in a list of an object; texts that are no quantities are left out.
[[nodiscard]] ResourceAmounts amounts_of(const Value& list);
/// Such a list, each amount in canonical form.
[[nodiscard]] Value list_of(const ResourceAmounts& amounts);
/// Adds `more` to `amounts`.
void add_amounts(ResourceAmounts& amounts, const ResourceAmounts& more);
/// "cpu=1,memory=1Gi", in the order of names.
[[nodiscard]] std::string to_text(const ResourceAmounts& amounts);

/// Whether `name` can be limited for a pod as a whole: cpu, memory and huge pages.
[[nodiscard]] bool is_pod_level_resource(std::string_view name);

/// Requests of all containers: the sum of those that run together, or those of an init container if they are larger.
[[nodiscard]] ResourceAmounts container_requests(const Value& pod);
/// Requests of the pod: its own where it has some, else those of its containers, and its overhead.
[[nodiscard]] ResourceAmounts pod_requests(const Value& pod);
/// Limits of the pod, likewise. Overhead is added only to what is limited.
[[nodiscard]] ResourceAmounts pod_limits(const Value& pod);
/// "Guaranteed", "Burstable" or "BestEffort".
[[nodiscard]] std::string_view quality_of_service(const Value& pod);

}  // namespace kube::testkit::detail
