// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/endpoint_groups.hpp"

#include <algorithm>
#include <optional>

namespace kube::testkit::detail {
namespace {

using core::v1::Container;
using core::v1::EndpointPort;
using core::v1::Pod;
using core::v1::Service;
using core::v1::ServicePort;

std::optional<std::int32_t> named_port(const List<Container>& containers, const ServicePort& port,
                                       bool sidecars_only) {
  for (const Container& container : containers) {
    if (sidecars_only && container.restart_policy.value_or("") != "Always") continue;
    for (const auto& one : container.ports) {
      if (one.name == port.target_port.text() && one.protocol == port.protocol) {
        return one.container_port;
      }
    }
  }
  return std::nullopt;
}

/// Returns the port number of the pod for a service port, or nothing if the pod has no port of that
/// name.
std::optional<std::int32_t> port_number(const Pod& pod, const ServicePort& port) {
  if (!port.target_port.is_set()) return port.port;
  if (!port.target_port.is_string()) {
    return port.target_port.number() != 0 ? port.target_port.number() : port.port;
  }
  const auto number = named_port(pod.spec.containers, port, false);
  return number ? number : named_port(pod.spec.init_containers, port, true);
}

List<EndpointPort> ports_of(const Service& service, const Pod& pod) {
  List<EndpointPort> ports;
  for (const ServicePort& port : service.spec.ports) {
    const auto number = port_number(pod, port);
    if (!number) continue;
    EndpointPort& one = ports.emplace_back();
    one.name = port.name;
    one.port = *number;
    one.protocol = port.protocol.empty() ? "TCP" : port.protocol.view();
    one.app_protocol = port.app_protocol;
  }
  return ports;
}

}  // namespace

std::vector<EndpointGroup> group_by_ports(const Service& service, const PodRefs& candidates) {
  std::vector<EndpointGroup> groups;
  const bool headless = service.spec.cluster_ip == "None";
  for (const Ref<Pod>& pod : candidates) {
    if (pod->status.pod_ip.empty() || is_finished(*pod)) continue;
    List<EndpointPort> ports = ports_of(service, *pod);
    if (ports.empty() && !headless) continue;
    const auto found = std::ranges::find_if(
        groups, [&](const EndpointGroup& group) { return group.ports == ports; });
    if (found != groups.end()) {
      found->pods.push_back(pod);
    } else {
      groups.push_back({std::move(ports), {pod}});
    }
  }
  return groups;
}

}  // namespace kube::testkit::detail
