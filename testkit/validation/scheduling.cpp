// SPDX-License-Identifier: Apache-2.0
// scheduling.k8s.io/v1, node.k8s.io/v1, coordination.k8s.io/v1 and resource.k8s.io/v1.
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kHighestUserPriority = 1000000000;

void check_device_selectors(const Field& selectors) {
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    if (!selectors.at(i)["cel"].is_set()) selectors.at(i)["cel"].required();
  }
}

void check_device_request(const Field& request) {
  check_text(request["name"], dns1123_label_problems);
  const Field exactly = request["exactly"];
  if (exactly.is_set() == (request["firstAvailable"].size() > 0)) {
    if (exactly.is_set()) {
      request.invalid(
          "exactly one of `exactly` or `firstAvailable` is required, but multiple "
          "fields are set");
    } else {
      request.required("exactly one of `exactly` or `firstAvailable` is required");
    }
    return;
  }
  if (!exactly.is_set()) return;
  if (check_required(exactly["deviceClassName"])) {
    check_text(exactly["deviceClassName"], dns1123_subdomain_problems);
  }
  check_device_selectors(exactly["selectors"]);
  const Field mode = exactly["allocationMode"];
  check_one_of(mode, {"All", "ExactCount"});
  if (const Field count = exactly["count"]; mode.is("All")) {
    if (count.number().value_or(0) != 0) {
      count.invalid("must not be specified when allocationMode is 'All'");
    }
  } else if (count.number().value_or(1) <= 0) {
    count.invalid("must be greater than zero");
  }
}

void check_claim_devices(const Field& devices) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < devices["requests"].size(); ++i) {
    const Field request = devices["requests"].at(i);
    check_device_request(request);
    if (!names.emplace(request["name"].text()).second) request.duplicate(request["name"].text());
  }
  for (std::size_t i = 0; i < devices["constraints"].size(); ++i) {
    const Field attribute = devices["constraints"].at(i)["matchAttribute"];
    if (attribute.is_set() && attribute.text().find('/') == std::string_view::npos) {
      attribute.invalid("a fully qualified name must be a domain and a name separated by a slash");
    }
  }
}

}  // namespace

void validate_priority_class(const Field& object, const Value* live) {
  const Field name = object["metadata"]["name"];
  const Field value = object["value"];
  const bool built_in = name.is("system-node-critical") || name.is("system-cluster-critical");
  if (name.text().starts_with("system-") && !built_in) {
    name.forbidden(
        fmt::format("priority class names with 'system-' prefix are reserved for system use only. "
                    "error: {} is not a known system priority class",
                    name.text()));
  } else if (!built_in && value.number().value_or(0) > kHighestUserPriority) {
    value.forbidden(fmt::format("maximum allowed value of a user defined priority is {}",
                                kHighestUserPriority));
  }
  check_one_of(object["preemptionPolicy"], {"PreemptLowerPriority", "Never"});
  if (live == nullptr) return;
  if (value.number().value_or(0) != live->get_integer("value").value_or(0)) {
    value.forbidden("may not be changed in an update.");
  }
  check_same(object["preemptionPolicy"], (*live)["preemptionPolicy"]);
}

void validate_runtime_class(const Field& object, const Value* live) {
  const Field handler = object["handler"];
  if (check_required(handler)) check_text(handler, dns1123_label_problems);
  if (const Field fixed = object["overhead"]["podFixed"]; fixed.is_set()) {
    // The real server reports it under this path.
    check_resource_amounts(object["overhead"]["limits"].with(fixed.value()));
  }
  check_labels(object["scheduling"]["nodeSelector"]);
  check_tolerations(object["scheduling"]["tolerations"]);
  if (live != nullptr) check_same(handler, (*live)["handler"]);
}

void validate_lease(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  if (const Field seconds = spec["leaseDurationSeconds"]; seconds.number().value_or(1) <= 0) {
    seconds.invalid("must be greater than 0");
  }
  check_not_negative(spec["leaseTransitions"]);
}

void validate_device_class(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  check_device_selectors(spec["selectors"]);
  for (std::size_t i = 0; i < spec["config"].size(); ++i) {
    if (!spec["config"].at(i)["opaque"].is_set()) spec["config"].at(i)["opaque"].required();
  }
}

void validate_resource_claim(const Field& object, const Value* live) {
  check_claim_devices(object["spec"]["devices"]);
  if (live != nullptr) check_same(object["spec"], (*live)["spec"]);
}

void validate_resource_claim_template(const Field& object, const Value* live) {
  check_labels(object["spec"]["metadata"]["labels"]);
  check_claim_devices(object["spec"]["spec"]["devices"]);
  if (live != nullptr) check_same(object["spec"], (*live)["spec"]);
}

void validate_resource_slice(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  if (check_required(spec["driver"])) check_text(spec["driver"], dns1123_subdomain_problems);
  check_optional_text(spec["nodeName"], dns1123_subdomain_problems);
  if (spec["nodeName"].text().empty() && !spec["nodeSelector"].is_set() &&
      !spec["allNodes"].is_true() && !spec["perDeviceNodeSelection"].is_true()) {
    spec.required(
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is "
        "required");
  }
  const Field pool = spec["pool"];
  check_required(pool["name"]);
  if (pool["generation"].number().value_or(0) < 0) {
    pool["generation"].invalid("must be greater than or equal to zero");
  }
  if (pool["resourceSliceCount"].number().value_or(0) <= 0) {
    pool["resourceSliceCount"].invalid(pool["resourceSliceCount"].number().value_or(0),
                                       "must be greater than zero");
  }
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < spec["devices"].size(); ++i) {
    const Field device = spec["devices"].at(i);
    check_text(device["name"], dns1123_label_problems);
    if (!names.emplace(device["name"].text()).second) device.duplicate(device["name"].text());
  }
  if (live == nullptr) return;
  check_same(spec["driver"], (*live)["spec"]["driver"]);
  check_same(spec["nodeName"], (*live)["spec"]["nodeName"]);
  check_same(pool["name"], (*live)["spec"]["pool"]["name"]);
}

}  // namespace kube::testkit::detail
