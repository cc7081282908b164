// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/object/list.hpp>

#include <vector>

#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

/// Pods that serve a service at the same port numbers. A named port may have a different number in
/// each pod, so a service can have several groups.
struct EndpointGroup {
  List<core::v1::EndpointPort> ports;
  PodRefs pods;
};

/// Groups the `candidates` that have an address and have not finished by their ports.
[[nodiscard]] std::vector<EndpointGroup> group_by_ports(const core::v1::Service& service,
                                                        const PodRefs& candidates);

}  // namespace kube::testkit::detail
