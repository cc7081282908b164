// SPDX-License-Identifier: Apache-2.0
// Services of core/v1.
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kLongestAffinity = 86400;

bool is_external(const Field& spec) {
  return spec["type"].is("NodePort") || spec["type"].is("LoadBalancer") ||
         (spec["type"].is("ClusterIP") && spec["externalIPs"].size() > 0);
}

void check_ports(const Field& spec) {
  const Field ports = spec["ports"];
  const bool headless = spec["clusterIP"].is("None");
  if (ports.size() == 0 && !headless && !spec["type"].is("ExternalName")) ports.required();
  std::set<std::string, std::less<>> names;
  std::set<std::tuple<std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Field port = ports.at(i);
    const Field name = port["name"];
    if (name.text().empty()) {
      if (ports.size() > 1) name.required();
    } else {
      check_text(name, dns1123_label_problems);
      if (!names.emplace(name.text()).second) name.duplicate();
    }
    check_port(port["port"]);
    check_one_of(port["protocol"], {"SCTP", "TCP", "UDP"});
    if (port["targetPort"].is_set()) check_port_or_name(port["targetPort"]);
    check_optional_text(port["appProtocol"], qualified_name_problems);
    if (port["nodePort"].number().value_or(0) != 0 &&
        (spec["type"].is("ClusterIP") || spec["type"].is("ExternalName"))) {
      port["nodePort"].forbidden("may not be used when `type` is '" +
                                 std::string{spec["type"].text()} + "'");
    }
    if (!seen.emplace(port["protocol"].text(), port["port"].number().value_or(0)).second) {
      Value shown = Value::object();
      shown["protocol"] = port["protocol"].value();
      shown["port"] = port["port"].value();
      port.duplicate(shown);
    }
  }
}

void check_addresses(const Field& spec) {
  const Field address = spec["clusterIP"];
  const Field addresses = spec["clusterIPs"];
  if (spec["type"].is("ExternalName")) {
    if (!address.text().empty() || addresses.size() > 0) {
      addresses.forbidden("may not be set for ExternalName services");
    }
    return;
  }
  const bool headless = addresses.size() > 0 ? addresses.at(0).is("None") : address.is("None");
  if (headless && (spec["type"].is("NodePort") || spec["type"].is("LoadBalancer"))) {
    addresses.at(0).invalid(
        "None", "may not be set to 'None' for " + std::string{spec["type"].text()} + " services");
    return;
  }
  if (addresses.size() > 0 && address.text() != addresses.at(0).text()) {
    addresses.invalid(address.text().empty() ? "must be empty when `clusterIP` is not specified"
                                             : "first value must match `clusterIP`");
  }
  if (headless && addresses.size() > 1)
    addresses.invalid("'None' must be the first and only value");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (i == 0 && headless) continue;
    check_text(addresses.at(i), ip_problems);
  }
}

void check_families(const Field& spec) {
  const Field families = spec["ipFamilies"];
  const Field policy = spec["ipFamilyPolicy"];
  check_one_of(policy, {"PreferDualStack", "RequireDualStack", "SingleStack"});
  if (spec["type"].is("ExternalName")) return;
  // A headless service without selector may name IP families that the cluster does not have.
  const bool anything = spec["clusterIP"].is("None") && spec["selector"].size() == 0;
  if (!anything && policy.is("RequireDualStack")) {
    policy.invalid("this cluster is not configured for dual-stack services");
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    check_one_of(families.at(i), {"IPv4", "IPv6"});
    if (!anything && families.at(i).is("IPv6")) {
      families.at(i).invalid("not configured on this cluster");
    }
  }
}

void check_affinity(const Field& spec) {
  const Field affinity = spec["sessionAffinity"];
  check_one_of(affinity, {"ClientIP", "None"});
  const Field seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
  if (!affinity.is("ClientIP") || !seconds.number()) return;
  if (*seconds.number() <= 0 || *seconds.number() > kLongestAffinity) {
    seconds.invalid("must be greater than 0 and less than 86400");
  }
}

void check_outside(const Field& spec) {
  for (std::size_t i = 0; i < spec["externalIPs"].size(); ++i) {
    const Field address = spec["externalIPs"].at(i);
    check_text(address, ip_problems(address.text()).empty() ? special_ip_problems : ip_problems);
  }
  const bool balanced = spec["type"].is("LoadBalancer");
  const Field traffic = spec["externalTrafficPolicy"];
  if (traffic.is_set() && !traffic.text().empty()) {
    if (!is_external(spec)) {
      traffic.invalid("may only be set for externally-accessible services");
    } else {
      check_one_of(traffic, {"Cluster", "Local"});
    }
  }
  check_one_of(spec["internalTrafficPolicy"], {"Cluster", "Local"});
  check_one_of(spec["trafficDistribution"], {"PreferClose", "PreferSameZone", "PreferSameNode"});
  if (const Field health = spec["healthCheckNodePort"]; health.number().value_or(0) != 0) {
    if (!balanced || !traffic.is("Local")) {
      health.invalid(
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
    } else {
      check_port(health);
    }
  }
  const Field ranges = spec["loadBalancerSourceRanges"];
  // The real server reports it under this path.
  const Field shown = spec["LoadBalancerSourceRanges"].with(ranges.value());
  if (ranges.size() > 0 && !balanced) {
    shown.forbidden("may only be used when `type` is 'LoadBalancer'");
  }
  for (std::size_t i = 0; balanced && i < ranges.size(); ++i) {
    check_text(shown.at(i), cidr_problems);
  }
  const Field class_name = spec["loadBalancerClass"];
  if (class_name.is_set() && !balanced) {
    class_name.forbidden("may only be used when `type` is 'LoadBalancer'");
  } else if (class_name.is_set()) {
    check_text(class_name, qualified_name_problems);
  }
  if (const Field allocate = spec["allocateLoadBalancerNodePorts"];
      allocate.is_set() && !balanced) {
    allocate.forbidden("may only be used when `type` is 'LoadBalancer'");
  }
}

}  // namespace

void validate_service(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  if (const Field type = spec["type"]; !type.text().empty()) {
    check_one_of(type, {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
  check_ports(spec);
  check_addresses(spec);
  check_families(spec);
  check_affinity(spec);
  check_outside(spec);
  check_labels(spec["selector"]);
  if (spec["type"].is("ExternalName")) {
    std::string_view name = spec["externalName"].text();
    if (name.ends_with('.')) name.remove_suffix(1);
    if (name.empty()) {
      spec["externalName"].required();
    } else {
      for (const std::string& problem : dns1123_subdomain_problems(name)) {
        spec["externalName"].invalid(problem);
      }
    }
  }
  if (live == nullptr) return;
  const Value& before = (*live)["spec"];
  const Field class_name = spec["loadBalancerClass"];
  if (spec["type"].is("LoadBalancer") && before["type"] == Value{"LoadBalancer"} &&
      !(class_name.value() == before["loadBalancerClass"])) {
    class_name.invalid("may not change once set");
  }
  const Field health = spec["healthCheckNodePort"];
  if (!before["healthCheckNodePort"].is_absent() && health.is_set() &&
      !(health.value() == before["healthCheckNodePort"])) {
    health.forbidden("field is immutable");
  }
  if (!(spec["clusterIP"].value() == before["clusterIP"]) &&
      spec["type"].value() == before["type"] && !spec["type"].is("ExternalName")) {
    spec["clusterIPs"].at(0).invalid(spec["clusterIPs"].value(), "may not change once set");
  }
}

}  // namespace kube::testkit::detail
