// SPDX-License-Identifier: Apache-2.0
// PersistentVolumes and PersistentVolumeClaims of core/v1.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

/// Members of the volume spec that are not sources; every other member is one.
constexpr std::array<std::string_view, 9> kNoSources{
    "accessModes",      "capacity",
    "claimRef",         "mountOptions",
    "nodeAffinity",     "persistentVolumeReclaimPolicy",
    "storageClassName", "volumeAttributesClassName",
    "volumeMode"};

bool is_source(std::string_view member) {
  return std::ranges::find(kNoSources, member) == kNoSources.end();
}

Value sources_of(const Value& spec) {
  Value sources = Value::object();
  if (!spec.is_object()) return sources;
  for (const auto& [name, value] : spec.as_object()) {
    if (is_source(name) && value.is_object()) sources[name.view()] = value;
  }
  // The field may be added later.
  if (std::as_const(sources)["csi"].is_object()) sources["csi"].erase("controllerExpandSecretRef");
  return sources;
}

void check_positive(const Field& amount) {
  const auto quantity = quantity_of(amount.value());
  if (quantity && *quantity <= Quantity{"0"}) amount.invalid("must be greater than zero");
}

void check_capacity(const Field& capacity) {
  if (capacity.size() == 0) capacity.required();
  if (capacity.size() != 1 || capacity.value()["storage"].is_absent()) {
    capacity.unsupported(capacity.is_set() ? Value{capacity.value()} : Value{nullptr}, {"storage"});
  }
  if (!capacity.value().is_object()) return;
  for (const auto& [name, value] : capacity.value().as_object()) check_positive(capacity.key(name));
}

void check_volume_sources(const Field& spec) {
  std::size_t given = 0;
  // In the order of the real server's checks: all sources after the first are rejected.
  static constexpr std::array<std::string_view, 22> kSources{"hostPath",
                                                             "gcePersistentDisk",
                                                             "awsElasticBlockStore",
                                                             "glusterfs",
                                                             "flocker",
                                                             "nfs",
                                                             "rbd",
                                                             "quobyte",
                                                             "cephfs",
                                                             "iscsi",
                                                             "cinder",
                                                             "fc",
                                                             "azureFile",
                                                             "vsphereVolume",
                                                             "photonPersistentDisk",
                                                             "portworxVolume",
                                                             "azureDisk",
                                                             "scaleIO",
                                                             "local",
                                                             "storageos",
                                                             "csi",
                                                             "gitRepo"};
  for (const std::string_view name : kSources) {
    const Field source = spec[name];
    if (!source.is_set()) continue;
    if (++given > 1) {
      source.forbidden("may not specify more than 1 volume type");
    } else if (name == "hostPath") {
      check_host_path(source);
    } else if (name == "nfs") {
      check_nfs(source);
    } else if (name == "csi") {
      if (check_required(source["driver"])) {
        check_text(source["driver"], dns1123_subdomain_problems);
      }
      check_required(source["volumeHandle"]);
    } else if (name == "local") {
      if (check_required(source["path"])) check_path_without_backsteps(source["path"]);
      if (!spec["nodeAffinity"].is_set()) {
        spec["nodeAffinity"].required("Local volume requires node affinity");
      }
    }
  }
  if (given == 0) spec.required("must specify a volume type");
}

/// Returns the claim without the fields that may change, which depend on `live`.
Value fixed_part(const Value& claim, const Value& live, bool bound) {
  Value spec = claim["spec"];
  if (!live["spec"].get_string("volumeName").has_value() ||
      live["spec"].get_string("volumeName") == "") {
    spec.erase("volumeName");
  }
  const Value& annotations = live["metadata"]["annotations"];
  if (live["spec"]["storageClassName"].is_absent() &&
      annotations["volume.beta.kubernetes.io/storage-class"].is_absent()) {
    spec.erase("storageClassName");
  }
  if (bound) {
    if (std::as_const(spec)["resources"].is_object()) {
      if (std::as_const(spec)["resources"]["requests"].is_object()) {
        spec["resources"]["requests"].erase("storage");
      }
      if (std::as_const(spec)["resources"]["requests"].size() == 0) {
        spec["resources"].erase("requests");
      }
    }
    spec.erase("volumeAttributesClassName");
  }
  return spec;
}

void check_claim_change(const Field& object, const Value& live) {
  const Field spec = object["spec"];
  const bool bound = object["status"]["phase"].is("Bound");
  if (!(fixed_part(object.value(), live, bound) == fixed_part(live, live, bound))) {
    spec.forbidden(
        "spec is immutable after creation except resources.requests and "
        "volumeAttributesClassName for bound claims");
  }
  const auto size_in = [](const Value& parent, std::string_view member) {
    return quantity_of(parent[member]["storage"]).value_or(Quantity{"0"});
  };
  const Quantity after = size_in(spec.value()["resources"], "requests");
  if (after < size_in(live["spec"]["resources"], "requests") &&
      after <= size_in(live["status"], "capacity")) {
    spec["resources"]["requests"]["storage"].forbidden(
        "field can not be less than status.capacity");
  }
  check_same(object["volumeMode"].with(spec["volumeMode"].value()), live["spec"]["volumeMode"]);
}

}  // namespace

void check_access_modes(const Field& modes, std::string_view detail_if_missing) {
  if (modes.size() == 0) modes.required(detail_if_missing);
  bool only_one_pod = false;
  bool others = false;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const Field mode = modes.with(modes.value()[i]);
    check_one_of(mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    (mode.is("ReadWriteOncePod") ? only_one_pod : others) = true;
  }
  if (only_one_pod && others) {
    modes.forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

void check_claim_spec(const Field& spec) {
  check_access_modes(spec["accessModes"], "at least 1 access mode is required");
  check_label_selector(spec["selector"]);
  const Field size = spec["resources"].key("storage");
  const Value& storage = spec["resources"]["requests"].value()["storage"];
  if (storage.is_absent()) {
    size.required();
  } else {
    check_positive(size.with(storage));
  }
  check_optional_text(spec["storageClassName"], dns1123_subdomain_problems);
  check_optional_text(spec["volumeAttributesClassName"], dns1123_subdomain_problems);
  check_one_of(spec["volumeMode"], {"Block", "Filesystem"});
  for (const char* member : {"dataSource", "dataSourceRef"}) {
    const Field source = spec[member];
    if (!source.is_set()) continue;
    check_required(source["name"]);
    check_required(source["kind"]);
    if (source["apiGroup"].text().empty() && !source["kind"].text().empty() &&
        !source["kind"].is("PersistentVolumeClaim")) {
      source.invalid(source["kind"].text(),
                     "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
    }
  }
}

void validate_persistent_volume_claim(const Field& object, const Value* live) {
  check_claim_spec(object["spec"]);
  if (live != nullptr) check_claim_change(object, *live);
}

void validate_persistent_volume(const Field& object, const Value* live) {
  const Field spec = object["spec"];
  check_access_modes(spec["accessModes"], {});
  check_capacity(spec["capacity"]);
  const Field reclaim = spec["persistentVolumeReclaimPolicy"];
  check_one_of(reclaim, {"Delete", "Recycle", "Retain"});
  if (const Field affinity = spec["nodeAffinity"]; affinity.is_set()) {
    if (affinity["required"].is_set()) {
      check_node_selector(affinity["required"]);
    } else {
      affinity["required"].required("must specify required node constraints");
    }
  }
  check_volume_sources(spec);
  if (spec["hostPath"]["path"].is("/") && reclaim.is("Recycle")) {
    reclaim.forbidden("may not be 'recycle' for a hostPath mount of '/'");
  }
  check_optional_text(spec["storageClassName"], dns1123_subdomain_problems);
  check_one_of(spec["volumeMode"], {"Block", "Filesystem"});
  if (live == nullptr) return;
  if (!(sources_of(spec.value()) == sources_of((*live)["spec"]))) {
    spec["persistentvolumesource"].forbidden(
        "spec.persistentvolumesource is immutable after creation");
  }
  check_same(object["volumeMode"].with(spec["volumeMode"].value()), (*live)["spec"]["volumeMode"]);
  if (const Field attributes = spec["volumeAttributesClassName"];
      !attributes.is_set() && !(*live)["spec"]["volumeAttributesClassName"].is_absent()) {
    attributes.forbidden("update from non-nil value to nil is forbidden");
  }
}

}  // namespace kube::testkit::detail
