// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/volume_claims.hpp"

#include <optional>
#include <string>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/validation/pods.hpp"

namespace kube::testkit::detail {

namespace {

std::optional<Quantity> size_of(const Value& claim) {
  return quantity_of(claim["spec"]["resources"]["requests"]["storage"]);
}

bool is_source(const Value& reference) {
  const std::string_view group = reference.get_string("apiGroup").value_or("");
  const std::string_view kind = reference.get_string("kind").value_or("");
  return (group.empty() && kind == "PersistentVolumeClaim") ||
         (group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot");
}

bool class_allows_expansion(Store& store, const Value& claim) {
  const StoredObject found =
      store.get(store.collection({"storage.k8s.io", "storageclasses"}),
                std::string{claim.get_string("spec.storageClassName").value_or("")});
  return found && (*found.value())["allowVolumeExpansion"] == Value{true};
}

}  // namespace

void normalize_data_sources(Value& claim) {
  if (!std::as_const(claim)["spec"].is_object()) return;
  Value& spec = claim["spec"];
  const Value& source = std::as_const(spec)["dataSource"];
  if (source.is_object() && !is_source(source)) spec.erase("dataSource");
  const Value& from = std::as_const(spec)["dataSource"];
  const Value& reference = std::as_const(spec)["dataSourceRef"];
  if (from.is_object() && reference.is_absent()) {
    spec["dataSourceRef"] = Value{from};
  } else if (reference.is_object() && from.is_absent() && is_source(reference) &&
             reference["namespace"].is_absent()) {
    spec["dataSource"] = Value{reference};
  }
}

void check_expansion(Store& store, const Value& live, const Value& next) {
  const auto before = size_of(live);
  const auto after = size_of(next);
  if (!before || !after || *after <= *before || class_allows_expansion(store, live)) return;
  throw forbidden({"", "persistentvolumeclaims"}, metadata_text(next, "name"),
                  "only dynamically provisioned pvc can be resized and the storageclass that "
                  "provisions the pvc must support resize");
}

}  // namespace kube::testkit::detail
