// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/node_ports.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {
namespace {

constexpr std::int64_t kFirst = 30000;
constexpr std::int64_t kLast = 32767;

/// Port numbers per protocol.
using Ports = std::set<std::pair<std::string, std::int64_t>>;

std::string protocol_of(const Value& port) {
  return std::string{port.get_string("protocol").value_or("TCP")};
}

bool has_node_ports(const Value& service) {
  const Value& spec = service["spec"];
  return spec["type"] == Value{"NodePort"} ||
         (spec["type"] == Value{"LoadBalancer"} &&
          !(spec["allocateLoadBalancerNodePorts"] == Value{false}));
}

/// Returns the ports of all other services.
Ports taken_ports(Store& store, const Value& service) {
  Ports taken;
  const std::string own = metadata_text(service, "uid");
  for (const auto& [key, object] : store.list(store.collection({"", "services"}), {}).objects) {
    if (object.metadata_text("uid") == own) continue;
    const Ref<Value> other = object.value();
    for (const Value& port : other->get_array("spec.ports")) {
      if (const auto number = port.get_integer("nodePort"))
        taken.emplace(protocol_of(port), *number);
    }
    if (const auto number = other->get_integer("spec.healthCheckNodePort")) {
      taken.emplace("TCP", *number);
    }
  }
  return taken;
}

/// Returns the previous number of the same port; 0 if there was none.
std::int64_t earlier_port(const Value& live, const Value& port) {
  if (!live.is_object()) return 0;
  for (const Value& before : live.get_array("spec.ports")) {
    if (before["port"] == port["port"] && protocol_of(before) == protocol_of(port)) {
      return before.get_integer("nodePort").value_or(0);
    }
  }
  return 0;
}

void check_chosen(const Value& service, std::size_t index, std::int64_t number, bool is_taken) {
  const bool in_range = number >= kFirst && number <= kLast;
  if (in_range && !is_taken) return;
  throw invalid({"", "Service"}, metadata_text(service, "name"),
                invalid_value(fmt::format("spec.ports[{}].nodePort", index), number,
                              in_range ? "provided port is already allocated"
                                       : fmt::format("provided port is not in the valid range. The "
                                                     "range of valid ports is {}-{}",
                                                     kFirst, kLast)));
}

/// Returns a free port; the uid spreads them.
std::int64_t free_port(const Value& service, const std::string& protocol, const Ports& taken) {
  const auto count = static_cast<std::size_t>(kLast - kFirst + 1);
  const std::size_t start = std::hash<std::string>{}(metadata_text(service, "uid"));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t number = kFirst + static_cast<std::int64_t>((start + i) % count);
    if (!taken.contains({protocol, number})) return number;
  }
  throw internal_error("range is full");
}

bool has_health_check(const Value& service) {
  return service["spec"]["type"] == Value{"LoadBalancer"} &&
         service["spec"]["externalTrafficPolicy"] == Value{"Local"};
}

/// Allocates the port at which load balancers check whether a node has endpoints.
void allocate_health_check(Store& store, const Value& live, Value& service) {
  const auto given = std::as_const(service).get_integer("spec.healthCheckNodePort").value_or(0);
  const auto earlier =
      live.is_object() ? live.get_integer("spec.healthCheckNodePort").value_or(0) : 0;
  if (!has_health_check(std::as_const(service))) {
    if (given == earlier && std::as_const(service)["spec"].is_object()) {
      service["spec"].erase("healthCheckNodePort");
    }
    return;
  }
  if (given != 0 && given == earlier) return;
  const Ports taken = taken_ports(store, std::as_const(service));
  if (given != 0) {
    if (taken.contains({"TCP", given})) {
      throw internal_error(
          fmt::format("failed to allocate requested HealthCheck NodePort {}: provided port is "
                      "already allocated",
                      given));
    }
    return;
  }
  service["spec"]["healthCheckNodePort"] =
      earlier != 0 ? earlier : free_port(std::as_const(service), "TCP", taken);
}

}  // namespace

void allocate_node_ports(Store& store, const Value& live, Value& service) {
  if (std::as_const(service)["spec"]["type"] == Value{"ClusterIP"} && live.is_object()) {
    // Fields that only the previous type uses are removed, unless the request has set them.
    for (const char* field : {"externalTrafficPolicy", "allocateLoadBalancerNodePorts"}) {
      if (std::as_const(service)["spec"][field] == live["spec"][field])
        service["spec"].erase(field);
    }
  }
  allocate_health_check(store, live, service);
  if (!std::as_const(service)["spec"]["ports"].is_array()) return;
  const bool wanted = has_node_ports(std::as_const(service));
  Ports taken = wanted ? taken_ports(store, std::as_const(service)) : Ports{};
  const Value before = std::as_const(service);
  std::size_t index = 0;
  for (Value& port : elements(service["spec"]["ports"])) {
    const std::string protocol = protocol_of(port);
    const std::int64_t earlier = earlier_port(live, std::as_const(port));
    std::int64_t number = std::as_const(port).get_integer("nodePort").value_or(0);
    if (!wanted) {
      // A type without node ports drops those allocated for the previous type.
      if (number == 0 || number == earlier) port.erase("nodePort");
    } else {
      if (number != 0 && number != earlier) {
        check_chosen(before, index, number, taken.contains({protocol, number}));
      }
      if (number == 0) number = earlier != 0 ? earlier : free_port(before, protocol, taken);
      taken.emplace(protocol, number);
      port["nodePort"] = number;
    }
    ++index;
  }
}

}  // namespace kube::testkit::detail
