// SPDX-License-Identifier: Apache-2.0
// Defaults of networking.k8s.io and discovery.k8s.io.
#include <array>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

void default_rules(Value& spec, const char* direction) {
  each(spec, direction, [](Value& rule) {
    each(rule, "ports", [](Value& port) { fill(port, "protocol", "TCP"); });
  });
}

void default_network_policies(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    if (std::as_const(spec)["policyTypes"].size() == 0) {
      Value types = Value::array({"Ingress"});
      if (std::as_const(spec)["egress"].size() > 0) types.push_back("Egress");
      spec["policyTypes"] = std::move(types);
    }
    default_rules(spec, "ingress");
    default_rules(spec, "egress");
  });
}

void default_ingress_classes(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    within(spec, "parameters", [](Value& parameters) { fill(parameters, "scope", "Cluster"); });
  });
}

void default_endpoint_slices(const Resource&, Value& object) {
  each(object, "ports", [](Value& port) {
    fill(port, "name", "");
    fill(port, "protocol", "TCP");
  });
}

constexpr std::array kNetwork{
    KindDefaults{"networkpolicies.networking.k8s.io", default_network_policies},
    KindDefaults{"ingressclasses.networking.k8s.io", default_ingress_classes},
    KindDefaults{"endpointslices.discovery.k8s.io", default_endpoint_slices}};

}  // namespace

std::span<const KindDefaults> network_defaults() { return kNetwork; }

}  // namespace kube::testkit::detail
