// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity.hpp>
#include <kube/object/value.hpp>

#include <map>
#include <string>
#include <string_view>

/// Resource requests and limits of pods.
namespace kube::testkit::detail {

/// Amounts by resource name, such as "cpu".
using ResourceAmounts = std::map<std::string, Quantity, std::less<>>;

/// Reads a resource list; skips values that are not quantities.
[[nodiscard]] ResourceAmounts amounts_of(const Value& list);
/// Returns a resource list with canonical quantities.
[[nodiscard]] Value list_of(const ResourceAmounts& amounts);
/// Adds `more` to `amounts`.
void add_amounts(ResourceAmounts& amounts, const ResourceAmounts& more);
/// Returns "cpu=1,memory=1Gi", sorted by name.
[[nodiscard]] std::string to_text(const ResourceAmounts& amounts);

/// Returns whether `name` can be limited at pod level: cpu, memory and huge pages.
[[nodiscard]] bool is_pod_level_resource(std::string_view name);

/// Returns the requests of all containers: the sum of those that run concurrently, or those of an
/// init container if greater.
[[nodiscard]] ResourceAmounts container_requests(const Value& pod);
/// Returns the requests of the pod: pod-level ones where set, else those of its containers; plus
/// overhead.
[[nodiscard]] ResourceAmounts pod_requests(const Value& pod);
/// Returns the limits of the pod, likewise. Overhead is added only to resources that are limited.
[[nodiscard]] ResourceAmounts pod_limits(const Value& pod);
/// Returns the QoS class: "Guaranteed", "Burstable" or "BestEffort".
[[nodiscard]] std::string_view quality_of_service(const Value& pod);

}  // namespace kube::testkit::detail
