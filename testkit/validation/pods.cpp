// SPDX-License-Identifier: Apache-2.0
// Pods and pod templates.
#include "testkit/validation/pods.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <utility>

#include "testkit/defaults/value_defaults.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/string_formats.hpp"
#include "testkit/validation/validation.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kLargestId = 2147483647;

void check_dns(const Field& spec) {
  check_one_of(spec["dnsPolicy"], {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  const Field config = spec["dnsConfig"];
  if (spec["dnsPolicy"].is("None")) {
    if (!config.is_set()) {
      config.required("must provide `dnsConfig` when `dnsPolicy` is None");
    } else if (config["nameservers"].size() == 0) {
      config["nameservers"].required(
          "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  for (std::size_t i = 0; i < config["nameservers"].size(); ++i) {
    check_text(config["nameservers"].at(i), ip_problems);
  }
  for (std::size_t i = 0; i < config["searches"].size(); ++i) {
    const Field search = config["searches"].at(i);
    if (search.is(".")) continue;
    std::string_view text = search.text();
    if (text.ends_with('.')) text.remove_suffix(1);
    for (const std::string& problem : underscore_subdomain_problems(text)) search.invalid(problem);
  }
  for (std::size_t i = 0; i < config["options"].size(); ++i) {
    const Field option = config["options"].at(i);
    if (option["name"].text().empty()) option.required("must not be empty");
  }
}

void check_seccomp(const Field& profile) {
  if (!profile.is_set()) return;
  if (!check_required(profile["type"])) return;
  check_one_of(profile["type"], {"Localhost", "RuntimeDefault", "Unconfined"});
  const Field local = profile["localhostProfile"];
  if (profile["type"].is("Localhost")) {
    check_required(local, "must be set when seccomp type is Localhost");
  } else if (local.is_set()) {
    local.invalid("can only be set when seccomp type is Localhost");
  }
}

void check_pod_security(const Field& context, const Field& spec) {
  for (const char* member : {"fsGroup", "runAsUser", "runAsGroup"}) {
    check_range(context[member], 0, kLargestId);
  }
  for (std::size_t i = 0; i < context["supplementalGroups"].size(); ++i) {
    check_range(context["supplementalGroups"].at(i), 0, kLargestId);
  }
  check_one_of(context["fsGroupChangePolicy"], {"Always", "OnRootMismatch"});
  check_seccomp(context["seccompProfile"]);
  static const Pattern kSysctl{
      "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"};
  for (std::size_t i = 0; i < context["sysctls"].size(); ++i) {
    const Field name = context["sysctls"].at(i)["name"];
    if (!check_required(name)) continue;
    if (name.text().size() > 253 || !kSysctl.found_in(name.text())) {
      name.invalid(
          "must have at most 253 characters and match regex "
          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    }
  }
  if (spec["shareProcessNamespace"].is_true() && spec["hostPID"].is_true()) {
    context["shareProcessNamespace"].invalid(
        true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
}

void check_host_aliases(const Field& aliases) {
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    const Field alias = aliases.at(i);
    check_text(alias["ip"], ip_problems);
    for (std::size_t j = 0; j < alias["hostnames"].size(); ++j) {
      check_text(alias["hostnames"].at(j), dns1123_subdomain_problems);
    }
  }
}

void check_gates(const Field& spec) {
  const Field gates = spec["schedulingGates"];
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = gates.at(i)["name"].text();
    for (const std::string& problem : qualified_name_problems(name)) {
      gates.at(i).invalid(name, problem);
    }
    if (!names.emplace(name).second) gates.at(i).duplicate(name);
  }
  for (std::size_t i = 0; i < spec["readinessGates"].size(); ++i) {
    check_text(spec["readinessGates"].at(i)["conditionType"], qualified_name_problems);
  }
}

/// Returns the pod without the fields that may change after creation (BK-4).
Value immutable_part(const Value& pod) {
  Value spec = pod["spec"];
  for (const char* member : {"tolerations", "activeDeadlineSeconds", "schedulingGates"}) {
    spec.erase(member);
  }
  for (const char* list : {"initContainers", "containers"}) {
    if (!std::as_const(spec)[list].is_array()) continue;
    for (Value& container : elements(spec[list])) container.erase("image");
  }
  return spec;
}

/// Removes the fields that may still be narrowed while scheduling gates are set.
void erase_gated_part(Value& spec) {
  spec.erase("nodeSelector");
  spec.erase("affinity");
}

/// Returns whether `list` contains the toleration `one`, possibly with other tolerationSeconds.
bool still_tolerates(const Value& list, const Value& one) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    Value same = list[i];
    same.erase("tolerationSeconds");
    Value wanted = one;
    wanted.erase("tolerationSeconds");
    if (same == wanted) return true;
  }
  return false;
}

/// Returns false if containers were added or removed; nothing else is compared then.
bool check_pod_change(const Field& spec, const Value& before) {
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].size() != before[list].size()) {
      spec[list].forbidden("pod updates may not add or remove containers");
      return false;
    }
  }
  const Field deadline = spec["activeDeadlineSeconds"];
  if (const auto old = before.get_integer("activeDeadlineSeconds")) {
    if (!deadline.number()) {
      deadline.invalid(nullptr, "must not update from a positive integer to nil value");
    } else if (*deadline.number() > *old) {
      deadline.invalid("must be less than or equal to previous value");
    }
  }
  const Field gates = spec["schedulingGates"];
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (contains(before["schedulingGates"], gates.at(i).value())) continue;
    gates.at(i)["name"].forbidden(
        fmt::format("only deletion is allowed, but found new scheduling gate '{}'",
                    gates.at(i)["name"].text()));
  }
  for (std::size_t i = 0; i < before["tolerations"].size(); ++i) {
    if (still_tolerates(spec["tolerations"].value(), before["tolerations"][i])) continue;
    spec["tolerations"].forbidden(
        "existing toleration can not be modified except its "
        "tolerationSeconds");
    break;
  }
  return true;
}

void check_immutable_spec(const Field& object, const Value& live) {
  Value after = immutable_part(object.value());
  Value before = immutable_part(live);
  if (before == after) return;
  if (live["spec"]["schedulingGates"].size() > 0) {
    erase_gated_part(after);
    erase_gated_part(before);
    if (before == after) return;
  }
  if (before.get_integer("terminationGracePeriodSeconds").value_or(0) < 0 &&
      after.get_integer("terminationGracePeriodSeconds") == 1) {
    before.erase("terminationGracePeriodSeconds");
    after.erase("terminationGracePeriodSeconds");
    if (before == after) return;
  }
  object["spec"].forbidden(
      "pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
      "`spec.tolerations` (only additions to existing "
      "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
      "previously negative)");
}

}  // namespace

void check_pod_spec(const Field& spec) {
  check_volumes(spec["volumes"]);
  check_containers(spec);
  check_one_of(spec["restartPolicy"], {"Always", "OnFailure", "Never"});
  check_dns(spec);
  check_placement(spec);
  check_pod_security(spec["securityContext"], spec);
  check_host_aliases(spec["hostAliases"]);
  check_gates(spec);
  check_optional_text(spec["serviceAccountName"], dns1123_subdomain_problems);
  check_optional_text(spec["nodeName"], dns1123_subdomain_problems);
  check_optional_text(spec["hostname"], dns1123_label_problems);
  check_optional_text(spec["subdomain"], dns1123_label_problems);
  check_optional_text(spec["priorityClassName"], dns1123_subdomain_problems);
  check_optional_text(spec["runtimeClassName"], dns1123_subdomain_problems);
  check_one_of(spec["preemptionPolicy"], {"Never", "PreemptLowerPriority"});
  check_range(spec["activeDeadlineSeconds"], 1, kLargestId);
  if (const Field os = spec["os"]; os.is_set()) {
    const std::string_view name = os["name"].text();
    if (name.empty()) {
      os["name"].required();
    } else if (name != "linux" && name != "windows") {
      os.unsupported(name, {"linux", "windows"});
    }
  }
  if (spec["overhead"].is_set()) {
    // The real server reports it under this path.
    check_resource_amounts(spec["overhead"].shown_as("limits"));
  }
}

void check_pod_template(const Field& shape) {
  check_labels(shape["labels"].with(shape["metadata"]["labels"].value()));
  const Field spec = shape["spec"];
  check_pod_spec(spec);
  if (spec["ephemeralContainers"].size() > 0) {
    spec["ephemeralContainers"].forbidden("ephemeral containers not allowed in pod template");
  }
}

void validate_pod(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_pod_spec(spec);
  if (live == nullptr) {
    if (spec["ephemeralContainers"].size() > 0) {
      spec["ephemeralContainers"].forbidden("cannot be set on create");
    }
    if (spec["schedulingGates"].size() > 0 && !spec["nodeName"].text().empty()) {
      spec["nodeName"].forbidden("cannot be set until all schedulingGates have been cleared");
    }
    for (std::size_t i = 0; i < spec["volumes"].size(); ++i) {
      const Field sources = spec["volumes"].at(i)["projected"]["sources"];
      for (std::size_t j = 0; j < sources.size(); ++j) {
        if (sources.at(j)["serviceAccountToken"].is_set() &&
            spec["serviceAccountName"].text().empty()) {
          sources.at(j)["serviceAccountToken"].forbidden(
              "must not be specified when serviceAccountName is not set");
        }
      }
    }
    return;
  }
  if (object.value()["spec"] == (*live)["spec"]) return;
  if (check_pod_change(spec, (*live)["spec"])) check_immutable_spec(object, *live);
}

void validate_pod_template(const Field& object, const Value* /*live*/) {
  check_pod_template(object["template"]);
}

}  // namespace kube::testkit::detail
