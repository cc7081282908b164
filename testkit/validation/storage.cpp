// SPDX-License-Identifier: Apache-2.0
// storage.k8s.io/v1.
#include <set>
#include <string>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kShortestToken = 600;

void check_parameters(const Field& parameters) {
  if (!parameters.value().is_object()) return;
  for (const auto& [key, value] : parameters.value().as_object()) {
    if (key.empty()) parameters.invalid("", "field can not be empty.");
  }
}

void check_topologies(const Field& topologies) {
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    const Field expressions = topologies.at(i)["matchLabelExpressions"];
    if (expressions.size() == 0) expressions.duplicate("");
    for (std::size_t j = 0; j < expressions.size(); ++j) {
      check_text(expressions.at(j)["key"], qualified_name_problems);
      if (expressions.at(j)["values"].size() == 0) expressions.at(j)["values"].required();
    }
  }
}

void check_driver_name(const Field& name) {
  if (check_required(name)) check_text(name, dns1123_subdomain_problems);
}

}  // namespace

void validate_storage_class(const Field& object, const Value* live) {
  const Field provisioner = object["provisioner"];
  if (check_required(provisioner)) {
    std::string lower{provisioner.text()};
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const std::string& problem : qualified_name_problems(lower)) provisioner.invalid(problem);
  }
  check_parameters(object["parameters"]);
  check_one_of(object["reclaimPolicy"], {"Delete", "Retain"});
  check_one_of(object["volumeBindingMode"], {"Immediate", "WaitForFirstConsumer"});
  check_topologies(object["allowedTopologies"]);
  if (live == nullptr) return;
  for (const char* member : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"}) {
    check_same(object[member], (*live)[member]);
  }
}

void validate_csi_driver(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_one_of(spec["fsGroupPolicy"], {"File", "None", "ReadWriteOnceWithFSType"});
  const Field modes = spec["volumeLifecycleModes"];
  for (std::size_t i = 0; i < modes.size(); ++i) {
    check_one_of(modes.with(modes.at(i).value()), {"Persistent", "Ephemeral"});
  }
  std::set<std::string, std::less<>> audiences;
  for (std::size_t i = 0; i < spec["tokenRequests"].size(); ++i) {
    const Field request = spec["tokenRequests"].at(i);
    if (!audiences.emplace(request["audience"].text()).second) request["audience"].duplicate();
    const Field seconds = request["expirationSeconds"];
    if (seconds.number().value_or(kShortestToken) < kShortestToken) {
      seconds.invalid("may not specify a duration less than 10 minutes");
    }
  }
  if (live == nullptr) return;
  // The real server misspells this path.
  check_same(spec["attachedRequired"].with(spec["attachRequired"].value()),
             (*live)["spec"]["attachRequired"]);
  check_same(modes, (*live)["spec"]["volumeLifecycleModes"]);
}

void validate_csi_node(const Field& object, const Value* live) {
  const Field drivers = object["spec"]["drivers"];
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const Field driver = drivers.at(i);
    check_driver_name(driver["name"]);
    check_required(driver["nodeID"]);
    std::set<std::string, std::less<>> keys;
    for (std::size_t j = 0; j < driver["topologyKeys"].size(); ++j) {
      const Field key = driver.with(driver["topologyKeys"].at(j).value());
      if (key.text().empty()) key.required();
      check_text(key, qualified_name_problems);
      if (!keys.emplace(key.text()).second) key.duplicate();
    }
    check_not_negative(driver["allocatable"]["count"]);
    if (!names.emplace(driver["name"].text()).second) driver["name"].duplicate();
    if (live == nullptr) continue;
    for (const Value& before : live->get_array("spec.drivers")) {
      if (before["name"] == driver["name"].value() && !(before == driver.value())) {
        drivers.invalid(driver.value(), "field is immutable");
      }
    }
  }
}

void validate_csi_storage_capacity(const Field& object, const Value* live) {
  const Field class_name = object["storageClassName"];
  check_text(class_name, dns1123_subdomain_problems);
  check_label_selector(object["nodeTopology"]);
  for (const char* member : {"capacity", "maximumVolumeSize"}) {
    if (const auto size = quantity_of(object[member].value()); size && *size < Quantity{"0"}) {
      object[member].invalid("must be greater than or equal to 0");
    }
  }
  if (live == nullptr) return;
  check_same(class_name, (*live)["storageClassName"]);
  check_same(object["nodeTopology"], (*live)["nodeTopology"]);
}

void validate_volume_attachment(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_driver_name(spec["attacher"]);
  check_text(spec["nodeName"], dns1123_subdomain_problems);
  const Field source = spec["source"];
  const Field volume = source["persistentVolumeName"];
  if (volume.is_set() == source["inlineVolumeSpec"].is_set()) {
    source.required("must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  } else if (volume.is_set()) {
    check_required(volume, "must specify non empty persistentVolumeName");
    check_text(volume, dns1123_subdomain_problems);
  }
  if (live != nullptr) check_same(spec, (*live)["spec"]);
}

void validate_volume_attributes_class(const Field& object, const Value* live) {
  check_required(object["driverName"]);
  const Field parameters = object["parameters"];
  if (parameters.size() == 0) parameters.required("must contain at least one key/value pair");
  check_parameters(parameters);
  if (live == nullptr) return;
  for (const char* member : {"driverName", "parameters"}) {
    if (object[member].value() == (*live)[member]) continue;
    object[member].forbidden("updates to " + std::string{member} + " are forbidden.");
  }
}

}  // namespace kube::testkit::detail
