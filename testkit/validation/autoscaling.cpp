// SPDX-License-Identifier: Apache-2.0
// autoscaling/v2 (and v1, which has only the first fields), policy/v1.
#include <array>
#include <string_view>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kLongestWindow = 3600;
constexpr std::int64_t kLongestPeriod = 1800;

void check_reference(const Field& reference) {
  for (const char* member : {"kind", "name"}) {
    if (check_required(reference[member])) check_text(reference[member], path_segment_problems);
  }
  const Field version = reference["apiVersion"];
  if (version.text().find('/') != version.text().rfind('/')) {
    version.invalid("unexpected GroupVersion string: " + std::string{version.text()});
  }
}

void check_target(const Field& target) {
  const Field type = target["type"];
  check_required(type, "must specify a metric target type");
  if (!type.is("Utilization") && !type.is("Value") && !type.is("AverageValue")) {
    type.invalid(type.text(), "must be either Utilization, Value, or AverageValue");
  }
  for (const char* member : {"value", "averageValue"}) {
    if (const auto amount = quantity_of(target[member].value());
        amount && *amount <= Quantity{"0"}) {
      target[member].invalid("must be positive");
    }
  }
  if (const Field average = target["averageUtilization"]; average.number().value_or(1) < 1) {
    average.invalid("must be greater than 0");
  }
}

void check_metric_name(const Field& metric) {
  if (check_required(metric["name"], "must specify a metric name")) {
    check_text(metric["name"], path_segment_problems);
  }
}

void check_source(const Field& source, std::string_view type) {
  const Field target = source["target"];
  check_target(target);
  const bool average = target["averageValue"].is_set();
  if (type == "resource" || type == "containerResource") {
    check_required(source["name"], "must specify a resource name");
    if (type == "containerResource")
      check_required(source["container"], "must specify a container");
    const bool utilization = target["averageUtilization"].is_set();
    if (!utilization && !average) {
      target["averageUtilization"].required(
          "must set either a target raw value or a target utilization");
    } else if (utilization && average) {
      target["averageValue"].forbidden(
          "may not set both a target raw value and a target utilization");
    }
    return;
  }
  check_metric_name(source["metric"]);
  const bool value = target["value"].is_set();
  if (type == "pods") {
    if (!average) target["averageValue"].required("must specify a positive target averageValue");
  } else if (type == "external") {
    if (!value && !average) {
      target["averageValue"].required(
          "must set either a target value for metric or a per-pod target");
    } else if (value && average) {
      target["value"].forbidden("may not set both a target value for metric and a per-pod target");
    }
  } else {
    check_reference(source["describedObject"]);
    if (!value && !average) {
      target["averageValue"].required("must set either a target value or averageValue");
    }
  }
}

void check_metric(const Field& metric) {
  struct Source {
    std::string_view type;
    std::string_view member;
  };
  static constexpr std::array<Source, 5> kSources{{{"Object", "object"},
                                                   {"External", "external"},
                                                   {"Pods", "pods"},
                                                   {"Resource", "resource"},
                                                   {"ContainerResource", "containerResource"}}};
  const Field type = metric["type"];
  check_required(type, "must specify a metric source type");
  std::string_view expected;
  std::size_t given = 0;
  for (const Source& source : kSources) {
    if (type.is(source.type)) expected = source.member;
    if (metric[source.member].is_set() && ++given == 1) {
      check_source(metric[source.member], source.member);
    }
  }
  if (expected.empty()) {
    type.unsupported({"ContainerResource", "External", "Object", "Pods", "Resource"});
    return;
  }
  if (!metric[expected].is_set()) {
    metric[expected].required("must populate information for the given metric source");
  }
  if (given < 2) return;
  for (const Source& source : kSources) {
    if (source.member != expected && metric[source.member].is_set()) {
      metric[source.member].forbidden("must populate the given metric source only");
    }
  }
}

void check_scaling(const Field& rules) {
  if (!rules.is_set()) return;
  if (const Field window = rules["stabilizationWindowSeconds"]; window.number()) {
    if (*window.number() < 0) window.invalid("must be greater than or equal to zero");
    if (*window.number() > kLongestWindow) window.invalid("must be less than or equal to 3600");
  }
  check_one_of(rules["selectPolicy"], {"Disabled", "Max", "Min"});
  for (std::size_t i = 0; i < rules["policies"].size(); ++i) {
    const Field policy = rules["policies"].at(i);
    if (!policy["type"].is("Pods") && !policy["type"].is("Percent")) {
      policy["type"].unsupported({"Percent", "Pods"});
    }
    for (const char* member : {"value", "periodSeconds"}) {
      if (policy[member].number().value_or(0) <= 0) {
        policy[member].invalid(policy[member].number().value_or(0), "must be greater than zero");
      }
    }
    if (const Field period = policy["periodSeconds"];
        period.number().value_or(0) > kLongestPeriod) {
      period.invalid("must be less than or equal to 1800");
    }
  }
}

bool scales_by_others(const Field& metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics.at(i)["type"].is("Object") || metrics.at(i)["type"].is("External")) return true;
  }
  return false;
}

}  // namespace

void validate_autoscaler(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  const Field least = spec["minReplicas"];
  const Field most = spec["maxReplicas"];
  if (least.number().value_or(1) < 1) least.invalid("must be greater than or equal to 1");
  const std::int64_t maximum = most.number().value_or(0);
  if (maximum < 1) most.required("must be set and greater than 0");
  if (least.number() && maximum < *least.number()) {
    most.invalid(maximum, "must be greater than or equal to `minReplicas`");
  }
  check_reference(spec["scaleTargetRef"]);
  const Field metrics = spec["metrics"];
  for (std::size_t i = 0; i < metrics.size(); ++i) check_metric(metrics.at(i));
  if (least.number() == 0 && !scales_by_others(metrics)) {
    metrics.forbidden(
        "must specify at least one Object or External metric to support scaling to zero replicas");
  }
  check_scaling(spec["behavior"]["scaleUp"]);
  check_scaling(spec["behavior"]["scaleDown"]);
  if (const Field target = spec["targetCPUUtilizationPercentage"];
      target.number().value_or(1) < 1) {
    spec["metrics"].at(0)["resource"]["target"]["averageUtilization"].invalid(
        target.value(), "must be greater than 0");
  }
}

void validate_disruption_budget(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  const Field least = spec["minAvailable"];
  const Field most = spec["maxUnavailable"];
  if (least.is_set() && most.is_set()) {
    spec.invalid("minAvailable and maxUnavailable cannot be both set");
  }
  for (const Field& one : {least, most}) {
    check_int_or_percent(one);
    check_not_above_100_percent(one);
  }
  check_label_selector(spec["selector"]);
  check_one_of(spec["unhealthyPodEvictionPolicy"], {"AlwaysAllow", "IfHealthyBudget"});
}

}  // namespace kube::testkit::detail
