// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <string_view>

/// Selects the nodes that a pod may run on, by taints, cordons, node selectors and required node
/// affinity. Resources, pod affinity, spreading and preferences are ignored.
namespace kube::testkit::detail {

inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

/// Returns whether one of the tolerations tolerates the taint.
[[nodiscard]] bool tolerates(const List<core::v1::Toleration>& tolerations,
                             const core::v1::Taint& taint);
/// Returns whether the node matches the node selector and the required node affinity of the pod.
[[nodiscard]] bool matches_node(const core::v1::PodSpec& spec, const core::v1::Node& node);
/// Returns the scheduler's message if the pod cannot be scheduled to the node; empty if it can.
[[nodiscard]] std::string_view misfit(const core::v1::PodSpec& spec, const core::v1::Node& node);

}  // namespace kube::testkit::detail
