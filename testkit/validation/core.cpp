// SPDX-License-Identifier: Apache-2.0
// ConfigMaps, Secrets, Namespaces, Nodes and Events of core/v1.
#include <kube/codec/base64.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::size_t kMaxData = std::size_t{1} << 20;
constexpr std::string_view kWhenImmutable = "field is immutable when `immutable` is set";

/// Returns the total size of the values of a map in bytes.
std::size_t bytes_in(const Value& map, bool base64) {
  std::size_t size = 0;
  if (!map.is_object()) return 0;
  for (const auto& [key, value] : map.as_object()) {
    const std::size_t length = value.is_string() ? value.as_string().size() : 0;
    size += base64 ? length / 4 * 3 : length;
  }
  return size;
}

void check_keys(const Field& map) {
  if (!map.value().is_object()) return;
  for (const auto& [key, value] : map.value().as_object()) {
    for (const std::string& problem : config_key_problems(key)) {
      map.key(key).invalid(key, problem);
    }
  }
}

void check_immutable(const Field& object, const Value* live,
                     std::initializer_list<std::string_view> members) {
  if (live == nullptr || (*live)["immutable"] != Value{true}) return;
  for (const std::string_view member : members) {
    if (!(object[member].value() == (*live)[member])) object[member].forbidden(kWhenImmutable);
  }
}

void require_key(const Field& data, std::string_view key) {
  if (data.value()[key].size() == 0 && data.key(key).text().empty()) data.key(key).required();
}

/// Checks registry credentials, which are a JSON document.
void check_docker_file(const Field& data, std::string_view key) {
  const Field file = data.key(key);
  if (!file.is_set()) {
    file.required();
    return;
  }
  const std::string text = base64_decode(file.text()).value_or("");
  try {
    static_cast<void>(decode_json<Value>(text));
  } catch (const std::exception&) {
    file.invalid("<secret contents redacted>",
                 text.empty() ? std::string{"unexpected end of JSON input"}
                              : fmt::format("invalid character '{}' looking for beginning of value",
                                            text.front()));
  }
}

void check_secret_type(const Field& object) {
  const Field type = object["type"];
  const Field data = object["data"];
  if (type.is("kubernetes.io/tls")) {
    for (const char* key : {"tls.crt", "tls.key"}) {
      if (!data.key(key).is_set()) data.key(key).required();
    }
  } else if (type.is("kubernetes.io/basic-auth")) {
    if (!data.key("username").is_set() && !data.key("password").is_set()) {
      data.key("username").required();
      data.key("password").required();
    }
  } else if (type.is("kubernetes.io/ssh-auth")) {
    require_key(data, "ssh-privatekey");
  } else if (type.is("kubernetes.io/dockerconfigjson")) {
    check_docker_file(data, ".dockerconfigjson");
  } else if (type.is("kubernetes.io/dockercfg")) {
    check_docker_file(data, ".dockercfg");
  } else if (type.is("kubernetes.io/service-account-token")) {
    const Field name = object["metadata"]["annotations"].key("kubernetes.io/service-account.name");
    if (name.text().empty()) name.required();
  }
}

void check_taints(const Field& taints) {
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Field taint = taints.at(i);
    check_text(taint["key"], qualified_name_problems);
    check_text(taint["value"], label_value_problems);
    if (check_required(taint["effect"])) {
      check_one_of(taint["effect"], {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!seen.emplace(taint["key"].text(), taint["effect"].text()).second) {
      FieldError error = duplicate_value(taint.path(), taint.value());
      error.message += ": taints must be unique by key and effect pair";
      taint.errors().add(std::move(error));
    }
  }
}

void check_pod_ranges(const Field& ranges) {
  bool valid = true;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    check_text(ranges.at(i), cidr_problems);
    valid = valid && cidr_problems(ranges.at(i).text()).empty();
  }
  if (ranges.size() < 2 || !valid) return;
  if (ranges.size() > 2 || is_ipv6(ranges.at(0).text()) == is_ipv6(ranges.at(1).text())) {
    ranges.invalid("may specify no more than one CIDR for each IP family");
  }
}

/// Checks events of both API groups, in the fields of core/v1. `component_name` is the name of
/// reportingComponent in the version that was sent.
void check_event(const Field& object, std::string_view component_name) {
  const std::string_view namespace_ = object["metadata"]["namespace"].text();
  const Field involved = object["involvedObject"]["namespace"];
  const bool is_modern = !object["eventTime"].text().empty();
  const bool may_be_empty = namespace_ == "default" || (is_modern && namespace_ == "kube-system");
  if (involved.text().empty() ? !may_be_empty : !is_modern && involved.text() != namespace_) {
    involved.invalid(involved.text(), "does not match event.namespace");
  }
  if (!is_modern) return;
  const Field component = object[component_name].with(object["reportingComponent"].value());
  check_required(component);
  check_text(component, qualified_name_problems);
  for (const char* member : {"reportingInstance", "action", "reason"}) {
    check_required(object[member]);
    if (object[member].text().size() > 128) {
      object[member].invalid("", "can have at most 128 characters");
    }
  }
  if (object["message"].text().size() > 1024) {
    object["message"].invalid("", "can have at most 1024 characters");
  }
}

void check_series(const Field& series) {
  if (!series.is_set()) return;
  if (series["count"].number().value_or(0) < 2) series["count"].invalid("", "should be at least 2");
  if (!series["lastObservedTime"].is_set()) series["lastObservedTime"].required();
}

}  // namespace

void validate_config_map(const Field& object, const Value* live) {
  const Field data = object["data"];
  const Field bytes = object["binaryData"];
  check_keys(data);
  check_keys(bytes);
  if (data.value().is_object()) {
    for (const auto& [key, value] : data.value().as_object()) {
      if (!bytes.value()[key].is_absent()) {
        data.key(key).invalid(key, "duplicate of key present in binaryData");
      }
    }
  }
  if (bytes_in(data.value(), false) + bytes_in(bytes.value(), true) > kMaxData) {
    object.errors().add(too_long("", kMaxData));
  }
  check_immutable(object, live, {"data", "binaryData", "immutable"});
}

void validate_secret(const Field& object, const Value* live) {
  check_keys(object["data"]);
  if (bytes_in(object["data"].value(), true) > kMaxData) {
    object.errors().add(too_long("data", kMaxData));
  }
  check_secret_type(object);
  check_immutable(object, live, {"data", "immutable"});
  if (live != nullptr) check_same(object["type"], (*live)["type"]);
}

void validate_namespace(const Field& object, const Value* live) {
  for (std::size_t i = 0; i < object["spec"]["finalizers"].size(); ++i) {
    const Field finalizers = object["spec"]["finalizers"];
    const std::string_view name = finalizers.at(i).text();
    for (const std::string& problem : qualified_name_problems(name)) {
      finalizers.invalid(name, problem);
    }
    if (name.find('/') == std::string_view::npos && name != "kubernetes" && name != "orphan" &&
        name != "foregroundDeletion") {
      finalizers.invalid(name,
                         "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  if (live == nullptr) return;
  const bool going = !object["metadata"]["deletionTimestamp"].text().empty();
  const Field phase = object["status"]["phase"];
  if (!phase.is(going ? "Terminating" : "Active")) {
    object["status"]["Phase"].invalid(
        phase.text(), going ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                            : "may not be 'Terminating' if `deletionTimestamp` is empty");
  }
}

void validate_node(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  // The real server reports them under this path.
  check_taints(object["metadata"]["taints"].with(spec["taints"].value()));
  check_pod_ranges(spec["podCIDRs"]);
  for (const char* member : {"capacity", "allocatable"}) {
    const Field amounts = object["status"][member];
    if (!amounts.value().is_object()) continue;
    for (const auto& [name, value] : amounts.value().as_object()) check_amount(amounts[name], name);
  }
  if (live == nullptr) return;
  const Value& before = (*live)["spec"];
  if (before["podCIDRs"].size() > 0 && !(spec["podCIDRs"].value() == before["podCIDRs"])) {
    spec["podCIDRs"].forbidden("node updates may not change podCIDR except from \"\" to valid");
  }
  if (!before.get_string("providerID").value_or("").empty() &&
      !(spec["providerID"].value() == before["providerID"])) {
    spec["providerID"].forbidden(
        "node updates may not change providerID except from \"\" to valid");
  }
}

void validate_event(const Field& object, const Value* /*live*/) {
  check_event(object, "reportingComponent");
}

void validate_modern_event(const Field& object, const Value* live) {
  check_event(object, "reportingController");
  if (live != nullptr) {
    if (!(object["series"].value() == (*live)["series"])) check_series(object["series"]);
    for (const char* member :
         {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp",
          "count", "type", "eventTime", "action", "related", "reportingInstance"}) {
      check_same(object[member], (*live)[member]);
    }
    check_same(object["reportingController"].with(object["reportingComponent"].value()),
               (*live)["reportingComponent"]);
    return;
  }
  check_series(object["series"]);
  check_required(object["eventTime"]);
  const std::string_view type = object["type"].text();
  if (type != "Normal" && type != "Warning") {
    object["type"].invalid("", fmt::format("has invalid value: {}", type));
  }
  for (const char* member : {"firstTimestamp", "lastTimestamp"}) {
    if (!object[member].text().empty()) object[member].invalid("", "needs to be unset");
  }
  if (object["count"].number().value_or(0) != 0) object["count"].invalid("", "needs to be unset");
  const Field source = object["source"];
  if (!source["component"].text().empty() || !source["host"].text().empty()) {
    source.invalid("", "needs to be unset");
  }
}

}  // namespace kube::testkit::detail
