// SPDX-License-Identifier: Apache-2.0
// Defaults of resource.k8s.io, scheduling.k8s.io and node.k8s.io.
#include <array>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/pods.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

void default_device_request(Value& request) {
  fill_empty(request, "allocationMode", "ExactCount");
  if (std::as_const(request)["allocationMode"] == Value{"ExactCount"}) {
    fill_empty(request, "count", 1);
  }
  each(request, "tolerations",
       [](Value& toleration) { fill_empty(toleration, "operator", "Equal"); });
}

void default_claim(Value& spec) {
  within(spec, "devices", [](Value& devices) {
    each(devices, "requests", [](Value& request) {
      within(request, "exactly", default_device_request);
      each(request, "firstAvailable", default_device_request);
    });
  });
}

void default_resource_claims(const Resource&, Value& object) {
  within(object, "spec", default_claim);
}

void default_resource_claim_templates(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) { within(spec, "spec", default_claim); });
}

void default_priority_classes(const Resource&, Value& object) {
  fill(object, "preemptionPolicy", "PreemptLowerPriority");
}

void default_runtime_classes(const Resource&, Value& object) {
  within(object, "overhead", [](Value& overhead) { within(overhead, "podFixed", round_amounts); });
}

constexpr std::array kDevices{
    KindDefaults{"resourceclaims.resource.k8s.io", default_resource_claims},
    KindDefaults{"resourceclaimtemplates.resource.k8s.io", default_resource_claim_templates},
    KindDefaults{"priorityclasses.scheduling.k8s.io", default_priority_classes},
    KindDefaults{"runtimeclasses.node.k8s.io", default_runtime_classes}};

}  // namespace

std::span<const KindDefaults> device_defaults() { return kDevices; }

}  // namespace kube::testkit::detail
