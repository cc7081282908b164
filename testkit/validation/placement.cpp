// SPDX-License-Identifier: Apache-2.0
// Placement of pods: affinity, tolerations, topology spread and node selectors.
#include <fmt/format.h>

#include <string>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"

namespace kube::testkit::detail {

namespace {

void check_requirement(const Field& requirement, bool names_only) {
  const Field operation = requirement["operator"];
  const Field values = requirement["values"];
  const std::size_t count = values.size();
  if (operation.is("In") || operation.is("NotIn")) {
    if (count == 0) values.required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operation.is("Exists") || operation.is("DoesNotExist")) {
    if (count > 0) {
      values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (operation.is("Gt") || operation.is("Lt")) {
    if (count != 1) {
      values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    operation.invalid(operation.text(), "not a valid selector operator");
  }
  if (!names_only) check_text(requirement["key"], qualified_name_problems);
}

void check_term(const Field& term) {
  for (std::size_t i = 0; i < term["matchExpressions"].size(); ++i) {
    check_requirement(term["matchExpressions"].at(i), false);
  }
  for (std::size_t i = 0; i < term["matchFields"].size(); ++i) {
    check_requirement(term["matchFields"].at(i), true);
  }
}

void check_weight(const Field& preferred) {
  const std::int64_t weight = preferred["weight"].number().value_or(0);
  if (weight < 1 || weight > 100) preferred["weight"].invalid(weight, "must be in the range 1-100");
}

void check_affinity_term(const Field& term) {
  check_label_selector(term["labelSelector"]);
  check_label_selector(term["namespaceSelector"]);
  for (std::size_t i = 0; i < term["namespaces"].size(); ++i) {
    for (const std::string& problem : dns1123_label_problems(term["namespaces"].at(i).text())) {
      term["namespace"].invalid(term["namespaces"].at(i).text(), problem);
    }
  }
  check_required(term["topologyKey"], "can not be empty");
  check_text(term["topologyKey"], qualified_name_problems);
}

void check_pod_affinity(const Field& affinity) {
  if (!affinity.is_set()) return;
  const Field required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  for (std::size_t i = 0; i < required.size(); ++i) check_affinity_term(required.at(i));
  const Field preferred = affinity["preferredDuringSchedulingIgnoredDuringExecution"];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    check_weight(preferred.at(i));
    check_affinity_term(preferred.at(i)["podAffinityTerm"]);
  }
}

void check_spread(const Field& constraints) {
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Field one = constraints.at(i);
    if (one["maxSkew"].number().value_or(0) <= 0) {
      one["maxSkew"].invalid(one["maxSkew"].number().value_or(0), "must be greater than zero");
    }
    check_required(one["topologyKey"], "can not be empty");
    const Field otherwise = one["whenUnsatisfiable"];
    if (!otherwise.is("DoNotSchedule") && !otherwise.is("ScheduleAnyway")) {
      otherwise.unsupported({"DoNotSchedule", "ScheduleAnyway"});
    }
    if (const Field domains = one["minDomains"]; domains.number()) {
      if (*domains.number() <= 0) domains.invalid("must be greater than zero");
      if (otherwise.is("ScheduleAnyway")) {
        domains.invalid(
            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
            "ScheduleAnyway");
      }
    }
    check_label_selector(one["labelSelector"]);
    for (std::size_t j = i + 1; j < constraints.size(); ++j) {
      const Field other = constraints.at(j);
      if (other["topologyKey"].value() == one["topologyKey"].value() &&
          other["whenUnsatisfiable"].value() == otherwise.value()) {
        one["{topologyKey, whenUnsatisfiable}"].duplicate(
            fmt::format("{{{}, {}}}", one["topologyKey"].text(), otherwise.text()));
        break;
      }
    }
  }
}

}  // namespace

void check_node_selector(const Field& selector) {
  const Field terms = selector["nodeSelectorTerms"];
  if (terms.size() == 0) terms.required("must have at least one node selector term");
  for (std::size_t i = 0; i < terms.size(); ++i) check_term(terms.at(i));
}

void check_tolerations(const Field& tolerations) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Field one = tolerations.at(i);
    const Field operation = one["operator"];
    const Field effect = one["effect"];
    check_optional_text(one["key"], qualified_name_problems);
    if (one["key"].text().empty() && !operation.is("Exists")) {
      operation.invalid(operation.text(),
                        "operator must be Exists when `key` is empty, which means \"match all "
                        "values and all keys\"");
    }
    if (one["tolerationSeconds"].is_set() && !effect.is("NoExecute")) {
      effect.invalid(effect.text(), "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operation.is("Exists")) {
      if (!one["value"].text().empty()) {
        operation.invalid(one["value"].text(), "value must be empty when `operator` is 'Exists'");
      }
    } else if (operation.text().empty() || operation.is("Equal")) {
      for (const std::string& problem : label_value_problems(one["value"].text())) {
        operation.invalid(one["value"].text(), problem);
      }
    } else {
      operation.unsupported({"Equal", "Exists"});
    }
    check_one_of(effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  }
}

void check_placement(const Field& spec) {
  check_labels(spec["nodeSelector"]);
  check_tolerations(spec["tolerations"]);
  check_spread(spec["topologySpreadConstraints"]);
  const Field affinity = spec["affinity"];
  if (!affinity.is_set()) return;
  const Field nodes = affinity["nodeAffinity"];
  const Field required = nodes["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.is_set()) check_node_selector(required);
  const Field preferred = nodes["preferredDuringSchedulingIgnoredDuringExecution"];
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    check_weight(preferred.at(i));
    check_term(preferred.at(i)["preference"]);
  }
  check_pod_affinity(affinity["podAffinity"]);
  check_pod_affinity(affinity["podAntiAffinity"]);
}

}  // namespace kube::testkit::detail
