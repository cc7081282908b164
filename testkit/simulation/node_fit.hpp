// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <string_view>

/// Which nodes a pod may run on. Taints, cordons, node selectors and required node affinity count; resources, affinity to
/// pods, spreading and preferences do not.
namespace kube::testkit::detail {

inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

/// Whether one of the tolerations tolerates the taint.
[[nodiscard]] bool tolerates(const List<core::v1::Toleration>& tolerations,
                             const core::v1::Taint& taint);
/// Whether the node has the labels and the name that the pod asks for.
[[nodiscard]] bool matches_node(const core::v1::PodSpec& spec, const core::v1::Node& node);
/// Why the pod cannot be scheduled to the node, as the scheduler says it; empty if it can.
[[nodiscard]] std::string_view misfit(const core::v1::PodSpec& spec, const core::v1::Node& node);

}  // namespace kube::testkit::detail
