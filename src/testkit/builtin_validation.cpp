// SPDX-License-Identifier: Apache-2.0
// What makes an object invalid.
#include "kind_rules.hpp"

#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "builtin_workloads.hpp"
#include "crd_registry.hpp"
#include "string_formats.hpp"

namespace kube::testkit::detail {

namespace {

using Errors = std::vector<FieldError>;

constexpr std::size_t kMaxAnnotations = 262144;
constexpr std::size_t kMaxData = std::size_t{1} << 20;

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

std::string_view name_problem(const Resource& resource, std::string_view name) {
  const std::string id = resource.id();
  if (resource.group == "rbac.authorization.k8s.io" || resource.plural == "events" ||
      id == "poddisruptionbudgets.policy") {
    if (name == "." || name == "..") return "may not be '.' or '..'";
    if (name.find_first_of("/%") != std::string_view::npos) return "may not contain '/' or '%'";
    return {};
  }
  if (id == "namespaces") return validation::dns1123_label_problem(name);
  if (id == "services") return validation::dns1123_label_problem(name);
  return validation::dns1123_subdomain_problem(name);
}

void check_owner_references(const Value& references, Errors& errors) {
  std::size_t controllers = 0;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const Value& reference = references[i];
    const std::string at = fmt::format("metadata.ownerReferences[{}]", i);
    for (const char* member : {"apiVersion", "kind", "name", "uid"}) {
      if (text(reference[member]).empty()) {
        errors.push_back(invalid_value(fmt::format("{}.{}", at, member), "", "must not be empty"));
      }
    }
    if (reference["controller"] == Value{true}) ++controllers;
  }
  if (controllers > 1) {
    errors.push_back(invalid_value("metadata.ownerReferences", references,
                                   "at most one owner may be the controller"));
  }
}

/// Built-in kinds want a domain in it, or one of three names.
void check_finalizer(std::string_view name, const std::string& place, Errors& errors) {
  if (const auto problem = validation::qualified_name_problem(name); !problem.empty()) {
    errors.push_back(invalid_value(place, name, problem));
  } else if (name.find('/') == std::string_view::npos && name != "kubernetes" && name != "orphan" &&
             name != "foregroundDeletion") {
    errors.push_back(invalid_value(place, name, "has no domain and is no standard name"));
  }
}

void check_finalizers(const Value& finalizers, bool builtin, Errors& errors) {
  bool orphan = false;
  bool foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = text(finalizers[i]);
    orphan = orphan || name == "orphan";
    foreground = foreground || name == "foregroundDeletion";
    if (const auto problem = validation::qualified_name_problem(name); !problem.empty()) {
      errors.push_back(invalid_value("metadata.finalizers", finalizers[i], problem));
    }
    if (builtin) check_finalizer(name, fmt::format("metadata.finalizers[{}]", i), errors);
  }
  if (orphan && foreground) {
    errors.push_back(invalid_value("metadata.finalizers", finalizers,
                                   "orphan and foregroundDeletion exclude each other"));
  }
}

/// The size of all values of a map in bytes.
std::size_t bytes_in(const Value& map, bool base64) {
  std::size_t size = 0;
  if (!map.is_object()) return 0;
  for (const auto& [key, value] : map.as_object()) {
    size += base64 ? text(value).size() / 4 * 3 : text(value).size();
  }
  return size;
}

void check_keys(const Value& map, std::string_view field, Errors& errors) {
  if (!map.is_object()) return;
  for (const auto& [key, value] : map.as_object()) {
    const bool fine = !key.empty() && key.size() <= 253 && key != "." && key != ".." &&
                      std::ranges::all_of(key.view(), [](char c) {
                        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                      });
    if (!fine) {
      errors.push_back(invalid_value(fmt::format("{}[{}]", field, key.view()), key,
                                     "a key has letters, digits, '-', '_' and '.' only"));
    }
  }
}

void check_immutable(const Value& object, const Value* live, Errors& errors) {
  if (live == nullptr || (*live)["immutable"] != Value{true}) return;
  for (const char* member : {"data", "binaryData", "immutable"}) {
    if (!(object[member] == (*live)[member])) {
      errors.push_back(forbidden_value(member, "field is immutable when `immutable` is set"));
    }
  }
}

void check_config_map(const Value& object, const Value* live, Errors& errors) {
  check_keys(object["data"], "data", errors);
  check_keys(object["binaryData"], "binaryData", errors);
  if (bytes_in(object["data"], false) + bytes_in(object["binaryData"], true) > kMaxData) {
    errors.push_back(too_long("", kMaxData));
  }
  check_immutable(object, live, errors);
}

void check_secret(const Value& object, const Value* live, Errors& errors) {
  check_keys(object["data"], "data", errors);
  if (bytes_in(object["data"], true) > kMaxData) errors.push_back(too_long("data", kMaxData));
  check_immutable(object, live, errors);
  if (live != nullptr && !(object["type"] == (*live)["type"])) {
    errors.push_back(invalid_value("type", object["type"], "field is immutable"));
  }
}

void check_claim(const Value& object, const Value* live, Errors& errors) {
  const Value& spec = object["spec"];
  if (spec["accessModes"].size() == 0) errors.push_back(required_value("spec.accessModes"));
  if (spec["resources"]["requests"]["storage"].is_absent()) {
    errors.push_back(required_value("spec.resources[storage]"));
  }
  if (live != nullptr && !(spec == (*live)["spec"])) {
    errors.push_back(forbidden_value("spec", "is immutable after creation"));
    if (spec["resources"]["requests"]["storage"].is_absent()) {
      errors.push_back(forbidden_value("spec.resources.requests.storage", "may not become less"));
    }
  }
}

void check_namespace(const Value& object, const Value* live, Errors& errors) {
  const bool going = !text(object["metadata"]["deletionTimestamp"]).empty();
  if (live != nullptr && text(object["status"]["phase"]) != (going ? "Terminating" : "Active")) {
    errors.push_back(invalid_value("status.Phase", object["status"]["phase"],
                                   "must be Terminating if it is being deleted, and only then"));
  }
}

void check_node(const Value& object, const Value* live, Errors& errors) {
  if (live == nullptr || (*live)["spec"]["podCIDRs"].size() == 0) return;
  if (!(object["spec"]["podCIDRs"] == (*live)["spec"]["podCIDRs"])) {
    errors.push_back(forbidden_value("spec.podCIDRs", "may be set once, but not changed"));
  }
}

void check_lease(const Value& object, const Value*, Errors& errors) {
  const Value& spec = object["spec"];
  const auto number = [&](const char* member) { return spec.get_integer(member); };
  if (const auto seconds = number("leaseDurationSeconds"); seconds && *seconds <= 0) {
    errors.push_back(
        invalid_value("spec.leaseDurationSeconds", *seconds, "must be greater than 0"));
  }
  if (const auto transitions = number("leaseTransitions"); transitions && *transitions < 0) {
    errors.push_back(
        invalid_value("spec.leaseTransitions", *transitions, "must be greater than or equal to 0"));
  }
}

void check_event(const Value& object, const Value* live, Errors& errors) {
  // In the fields of core/v1, whichever of the two forms was sent (BK-3).
  const std::string_view namespace_ = text(object["metadata"]["namespace"]);
  const std::string_view involved = text(object["involvedObject"]["namespace"]);
  if (text(object["eventTime"]).empty()) {
    if (involved != namespace_ && !(involved.empty() && namespace_ == "default")) {
      errors.push_back(
          invalid_value("involvedObject.namespace", involved, "does not match event.namespace"));
    }
    return;
  }
  for (const char* member : {"reportingComponent", "reportingInstance", "action", "reason"}) {
    if (text(object[member]).empty()) errors.push_back(required_value(member));
  }
  const std::string_view type = text(object["type"]);
  if (type != "Normal" && type != "Warning") {
    errors.push_back(invalid_value("type", type, "has invalid value: must be Normal or Warning"));
  }
  for (const char* member : {"reportingInstance", "action", "reason"}) {
    if (text(object[member]).size() > 128) {
      errors.push_back(invalid_value(member, "", "can have at most 128 characters"));
    }
  }
  if (text(object["message"]).size() > 1024) {
    errors.push_back(invalid_value("message", "", "can have at most 1024 characters"));
  }
  if (object["series"].is_object() && object.get_integer("series.count").value_or(0) < 2) {
    errors.push_back(invalid_value("series.count", "", "should be at least 2"));
  }
  if (live == nullptr) return;
  for (const char* member :
       {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
        "type", "eventTime", "action", "related", "reportingComponent", "reportingInstance"}) {
    if (!(object[member] == (*live)[member])) {
      errors.push_back(invalid_value(member, object[member], "field is immutable"));
    }
  }
}

void check_service(const Value& object, const Value* live, Errors& errors) {
  const Value& spec = object["spec"];
  if (spec["ipFamilyPolicy"] == Value{"RequireDualStack"} &&
      (spec["clusterIP"] != Value{"None"} || spec["selector"].size() > 0)) {
    errors.push_back(invalid_value("spec.ipFamilyPolicy", spec["ipFamilyPolicy"],
                                   "there is one family of addresses only"));
    errors.push_back(
        invalid_value("spec.ipFamilies[1]", spec["ipFamilies"][1], "there are no such addresses"));
    return;
  }
  if (spec["type"] == Value{"ExternalName"} && text(spec["externalName"]).empty()) {
    errors.push_back(required_value("spec.externalName"));
  }
  if (spec["ports"].size() == 0 && spec["clusterIP"] != Value{"None"} &&
      spec["type"] != Value{"ExternalName"}) {
    errors.push_back(required_value("spec.ports"));
  }
  const std::string_view address = text(spec["clusterIP"]);
  if (spec["type"] == Value{"ExternalName"} && !address.empty()) {
    errors.push_back(forbidden_value("spec.clusterIPs", "an ExternalName has no address"));
  } else if (!address.empty() && address != "None" && !has_format("ipv4", address) &&
             !has_format("ipv6", address)) {
    errors.push_back(invalid_value("spec.clusterIPs[0]", address, "must be a valid IP address"));
  }
  static const std::vector<std::string> kAffinities{"ClientIP", "None"};
  if (const Value& affinity = spec["sessionAffinity"];
      !affinity.is_absent() &&
      std::ranges::find(kAffinities, text(affinity)) == kAffinities.end()) {
    errors.push_back(not_supported("spec.sessionAffinity", affinity, kAffinities));
  }
  for (std::size_t i = 0; i < spec["ports"].size(); ++i) {
    const Value& port = spec["ports"][i];
    const std::string place = fmt::format("spec.ports[{}]", i);
    const std::string_view name = text(port["name"]);
    if (name.empty() && spec["ports"].size() > 1) errors.push_back(required_value(place + ".name"));
    bool taken = false;
    for (std::size_t j = 0; j < i; ++j) {
      taken = taken || (!name.empty() && spec["ports"][j]["name"] == port["name"]);
    }
    if (taken) errors.push_back(duplicate_value(place + ".name", name));
    const std::int64_t number = port.get_integer("port").value_or(0);
    if (number < 1 || number > 65535) {
      errors.push_back(invalid_value(place + ".port", number, "must be between 1 and 65535"));
    }
  }
  if (live != nullptr && !(spec["clusterIP"] == (*live)["spec"]["clusterIP"]) &&
      spec["type"] == (*live)["spec"]["type"] && spec["type"] != Value{"ExternalName"}) {
    errors.push_back(
        invalid_value("spec.clusterIPs[0]", spec["clusterIP"], "may not change once set"));
  }
}

void check_definition(const Value& object, const Value* live, Errors& errors) {
  const Errors found = validate_definition(object, live);
  errors.insert(errors.end(), found.begin(), found.end());
}

using Check = void (*)(const Value&, const Value*, Errors&);

const std::map<std::string, Check, std::less<>>& checks() {
  static const std::map<std::string, Check, std::less<>> kAll{
      {"configmaps", check_config_map},
      {"secrets", check_secret},
      {"pods", check_pod},
      {"deployments.apps", check_workload},
      {"replicasets.apps", check_workload},
      {"statefulsets.apps", check_workload},
      {"daemonsets.apps", check_workload},
      {"jobs.batch", check_job},
      {"namespaces", check_namespace},
      {"nodes", check_node},
      {"persistentvolumeclaims", check_claim},
      {"leases.coordination.k8s.io", check_lease},
      {"services", check_service},
      {"events", check_event},
      {"events.events.k8s.io", check_event},
      {"customresourcedefinitions.apiextensions.k8s.io", check_definition}};
  return kAll;
}

}  // namespace

std::vector<FieldError> validate_metadata(const Resource& resource, const Value& object) {
  Errors errors;
  const Value& metadata = object["metadata"];
  const std::string_view name = text(metadata["name"]);
  if (name.empty()) {
    errors.push_back(required_value("metadata.name", "name or generateName is required"));
  } else if (const auto problem = name_problem(resource, name); !problem.empty()) {
    errors.push_back(invalid_value("metadata.name", name, problem));
  }
  if (metadata["labels"].is_object()) {
    for (const auto& [key, value] : metadata["labels"].as_object()) {
      if (const auto problem = validation::qualified_name_problem(key); !problem.empty()) {
        errors.push_back(invalid_value("metadata.labels", key, problem));
      }
      if (const auto problem = validation::label_value_problem(text(value)); !problem.empty()) {
        errors.push_back(invalid_value("metadata.labels", value, problem));
      }
    }
  }
  if (metadata["annotations"].is_object()) {
    std::size_t size = 0;
    for (const auto& [key, value] : metadata["annotations"].as_object()) {
      if (const auto problem = validation::qualified_name_problem(key); !problem.empty()) {
        errors.push_back(invalid_value("metadata.annotations", key, problem));
      }
      size += key.size() + text(value).size();
    }
    if (size > kMaxAnnotations) errors.push_back(too_long("metadata.annotations", kMaxAnnotations));
  }
  check_owner_references(metadata["ownerReferences"], errors);
  check_finalizers(metadata["finalizers"],
                   !resource.is_custom() && resource.group != "apiextensions.k8s.io" &&
                       resource.plural != "poddisruptionbudgets" && resource.plural != "events" &&
                       resource.plural != "leases",
                   errors);
  return errors;
}

std::vector<FieldError> validate_builtin(const Resource& resource, const Value& object,
                                         const Value* live) {
  Errors errors;
  const auto found = checks().find(resource.id());
  if (found != checks().end()) found->second(object, live, errors);
  return errors;
}

}  // namespace kube::testkit::detail
