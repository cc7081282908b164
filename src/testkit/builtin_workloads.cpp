// SPDX-License-Identifier: Apache-2.0
// What makes pods, and those who make pods, invalid.
#include "builtin_workloads.hpp"

#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace kube::testkit::detail {

namespace {

using Errors = std::vector<FieldError>;

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

void check_containers(const Value& spec, const std::string& at, Errors& errors) {
  if (spec["containers"].size() == 0) errors.push_back(required_value(at + ".containers"));
  for (const char* list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < spec[list].size(); ++i) {
      const Value& container = spec[list][i];
      const std::string place = fmt::format("{}.{}[{}]", at, list, i);
      const std::string_view name = text(container["name"]);
      if (name.empty()) {
        errors.push_back(required_value(place + ".name"));
      } else if (const auto problem = validation::dns1123_label_problem(name); !problem.empty()) {
        errors.push_back(invalid_value(place + ".name", name, problem));
      }
      if (text(container["image"]).empty()) errors.push_back(required_value(place + ".image"));
      if (list == std::string_view{"initContainers"} &&
          container["restartPolicy"] != Value{"Always"}) {
        for (const char* member :
             {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
          if (!container[member].is_absent()) {
            errors.push_back(forbidden_value(fmt::format("{}.{}", place, member),
                                             "is not for containers that end"));
          }
        }
      }
      const Value& ports = container["ports"];
      for (std::size_t port = 0; port < ports.size(); ++port) {
        for (std::size_t other = 0; other < port; ++other) {
          if (text(ports[port]["name"]).empty() || ports[other]["name"] != ports[port]["name"]) {
            continue;
          }
          errors.push_back(duplicate_value(fmt::format("{}.ports[{}].name", place, port),
                                           text(ports[port]["name"])));
          break;
        }
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (!name.empty() && spec[list][j]["name"] == container["name"]) {
          errors.push_back(duplicate_value(place + ".name", name));
          break;
        }
      }
    }
  }
}

/// Without what may change in a pod that exists (BK-4).
Value immutable_part(const Value& pod) {
  Value spec = pod["spec"];
  for (const char* member : {"tolerations", "activeDeadlineSeconds", "schedulingGates", "nodeName",
                             "ephemeralContainers"}) {
    spec.erase(member);
  }
  for (const char* list : {"initContainers", "containers"}) {
    if (!std::as_const(spec)[list].is_array()) continue;
    Value stripped = Value::array();
    for (const Value& container : std::as_const(spec)[list].as_array()) {
      Value copy = container;
      copy.erase("image");
      stripped.push_back(std::move(copy));
    }
    spec[list] = std::move(stripped);
  }
  return spec;
}

/// What may change in the template of a job that does not run.
Value fixed_part(const Value& shape, bool suspended) {
  Value result = shape;
  if (!suspended) return result;
  for (const char* member : {"labels", "annotations"}) result["metadata"].erase(member);
  for (const char* member : {"affinity", "nodeSelector", "tolerations", "schedulingGates"}) {
    result["spec"].erase(member);
  }
  return result;
}

/// No selector at all selects nothing.
bool selects(const Value& selector, const Value& labels) {
  if (!selector.is_object()) return false;
  if (!selector["matchLabels"].is_object()) return true;
  for (const auto& [key, value] : selector["matchLabels"].as_object()) {
    if (labels[key] != value) return false;
  }
  return true;
}

void check_selects_template(const Value& spec, Errors& errors) {
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (selects(spec["selector"], labels)) return;
  errors.push_back(invalid_value("spec.template.metadata.labels", labels,
                                 "`selector` does not match template `labels`"));
}

/// A job finds its pods by labels that the server has put on them.
void check_generated_labels(const Value& job, Errors& errors) {
  const Value& spec = job["spec"];
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.as_object()) {
      if (const auto problem = validation::label_value_problem(text(value)); !problem.empty()) {
        errors.push_back(invalid_value("spec.template.labels", value, problem));
      }
    }
  }
  Value expected = Value::object();
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    expected[fmt::format("{}controller-uid", prefix)] = job["metadata"]["uid"];
    expected[fmt::format("{}job-name", prefix)] = job["metadata"]["name"];
  }
  for (const auto& [name, value] : std::as_const(expected).as_object()) {
    const std::string place = fmt::format("spec.template.metadata.labels[{}]", name.view());
    if (labels[name].is_absent()) {
      errors.push_back(required_value(place, fmt::format("must be '{}'", text(value))));
    } else if (labels[name] != value) {
      errors.push_back(invalid_value(place, labels, fmt::format("must be '{}'", text(value))));
    }
  }
  if (!selects(spec["selector"], expected)) {
    errors.push_back(
        invalid_value("spec.selector", spec["selector"], "`selector` not auto-generated"));
  }
}

}  // namespace

void check_pod(const Value& object, const Value* live, Errors& errors) {
  check_containers(object["spec"], "spec", errors);
  if (live == nullptr || object["spec"] == (*live)["spec"]) return;
  for (const char* list : {"containers", "initContainers"}) {
    if (object["spec"][list].size() != (*live)["spec"][list].size()) {
      errors.push_back(forbidden_value(fmt::format("spec.{}", list),
                                       "containers can be neither added nor removed"));
      return;
    }
  }
  if (const auto before = live->get_integer("spec.activeDeadlineSeconds")) {
    const auto after = object.get_integer("spec.activeDeadlineSeconds");
    if (!after || *after > *before) {
      errors.push_back(invalid_value("spec.activeDeadlineSeconds",
                                     object["spec"]["activeDeadlineSeconds"],
                                     "may only become shorter"));
    }
  }
  const Value& tolerations = object["spec"]["tolerations"];
  for (const Value& before : (*live).get_array("spec.tolerations")) {
    bool kept = false;
    for (std::size_t i = 0; i < tolerations.size(); ++i) kept = kept || tolerations[i] == before;
    if (kept) continue;
    errors.push_back(forbidden_value("spec.tolerations", "may be added, but not changed"));
    break;
  }
  if (!(immutable_part(object) == immutable_part(*live)) ||
      !(object["spec"]["nodeName"] == (*live)["spec"]["nodeName"])) {
    errors.push_back(forbidden_value(
        "spec",
        "a pod may change only the images of its containers, activeDeadlineSeconds, tolerations "
        "and schedulingGates"));
  }
}

void check_workload(const Value& object, const Value* live, Errors& errors) {
  const Value& spec = object["spec"];
  const Value& selector = spec["selector"];
  const Value& pods = spec["template"]["spec"];
  const bool is_daemon_set = object["kind"] == Value{"DaemonSet"};
  const Value& strategy = spec["strategy"];
  if (strategy["type"] == Value{"Recreate"} && strategy["rollingUpdate"].is_object()) {
    errors.push_back(forbidden_value("spec.strategy.rollingUpdate", "Recreate does not roll"));
  }
  if (!selector.is_object()) {
    if (!is_daemon_set) errors.push_back(required_value("spec.selector"));
  } else if (selector["matchLabels"].size() + selector["matchExpressions"].size() == 0) {
    errors.push_back(invalid_value("spec.selector", selector, "must select something"));
  }
  check_selects_template(spec, errors);
  for (const char* member :
       {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"}) {
    if (spec.get_integer(member).value_or(0) < 0) {
      errors.push_back(invalid_value(fmt::format("spec.{}", member), spec[member],
                                     "must be greater than or equal to 0"));
    }
  }
  check_containers(pods, "spec.template.spec", errors);
  if (const std::string_view restart = text(pods["restartPolicy"]);
      !restart.empty() && restart != "Always") {
    const std::array<std::string, 1> known{"Always"};
    errors.push_back(not_supported("spec.template.spec.restartPolicy", restart, known));
  }
  if (!pods["activeDeadlineSeconds"].is_absent()) {
    errors.push_back(
        forbidden_value("spec.template.spec.activeDeadlineSeconds", "is for pods that end"));
  }
  if (live == nullptr) return;
  if (object["kind"] == Value{"StatefulSet"}) {
    Value before = (*live)["spec"];
    Value after = spec;
    for (const char* member :
         {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
      before.erase(member);
      after.erase(member);
    }
    if (!(before == after)) {
      errors.push_back(forbidden_value("spec", "only replicas, template and policies may change"));
    }
  } else if (!(spec["selector"] == (*live)["spec"]["selector"])) {
    errors.push_back(invalid_value("spec.selector", spec["selector"], "field is immutable"));
  }
}

void check_job(const Value& object, const Value* live, Errors& errors) {
  const Value& spec = object["spec"];
  check_containers(spec["template"]["spec"], "spec.template.spec", errors);
  const std::string_view restart = text(spec["template"]["spec"]["restartPolicy"]);
  if (restart != "Never" && restart != "OnFailure") {
    errors.push_back(required_value("spec.template.spec.restartPolicy", "Never or OnFailure"));
  }
  for (const char* member : {"parallelism", "completions", "backoffLimit"}) {
    if (spec.get_integer(member).value_or(0) < 0) {
      errors.push_back(invalid_value(fmt::format("spec.{}", member), spec[member],
                                     "must be greater than or equal to 0"));
    }
  }
  if (!spec["selector"].is_object()) {
    errors.push_back(required_value("spec.selector"));
  } else if (spec["manualSelector"] != Value{true}) {
    check_generated_labels(object, errors);
  }
  check_selects_template(spec, errors);
  if (live == nullptr) return;
  const Value& before = (*live)["spec"];
  const bool suspended = before["suspend"] == Value{true};
  for (const char* member : {"selector", "completionMode"}) {
    if (!(spec[member] == before[member])) {
      errors.push_back(
          invalid_value(fmt::format("spec.{}", member), spec[member], "field is immutable"));
    }
  }
  if (!(spec["completions"] == before["completions"]) &&
      spec["completionMode"] != Value{"Indexed"}) {
    errors.push_back(invalid_value("spec.completions", spec["completions"], "field is immutable"));
  }
  if (!(fixed_part(spec["template"], suspended) == fixed_part(before["template"], suspended))) {
    errors.push_back(invalid_value(suspended ? "spec.template.spec" : "spec.template",
                                   spec["template"], "field is immutable"));
  }
}

}  // namespace kube::testkit::detail
