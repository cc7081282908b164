// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/admission.hpp"

#include <string>
#include <utility>

#include "testkit/admission/default_classes.hpp"
#include "testkit/admission/limit_ranges.hpp"
#include "testkit/admission/pod_priority.hpp"
#include "testkit/admission/runtime_classes.hpp"
#include "testkit/admission/service_accounts.hpp"
#include "testkit/defaults/value_defaults.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

void add_finalizer(Value& object, const char* name) {
  if (!contains(std::as_const(object)["metadata"]["finalizers"], name)) {
    object["metadata"]["finalizers"].push_back(name);
  }
}

/// Adds the default tolerations: a pod stays for five minutes on a node that is not ready or
/// unreachable.
void add_tolerations(Value& spec) {
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool tolerated = false;
    for (std::size_t i = 0; i < std::as_const(spec)["tolerations"].size(); ++i) {
      const Value& one = std::as_const(spec)["tolerations"][i];
      const std::string_view tolerated_key = text_member(one, "key");
      const std::string_view effect = text_member(one, "effect");
      tolerated = tolerated || ((tolerated_key == key || tolerated_key.empty()) &&
                                (effect == "NoExecute" || effect.empty()));
    }
    if (tolerated) continue;
    spec["tolerations"].push_back(Value::object({{"key", key},
                                                 {"operator", "Exists"},
                                                 {"effect", "NoExecute"},
                                                 {"tolerationSeconds", 300}}));
  }
}

void add_not_ready_taint(Value& node) {
  const Value taint =
      Value::object({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
  Value& spec = part(node, "spec");
  if (!contains(std::as_const(spec)["taints"], taint)) spec["taints"].push_back(taint);
}

}  // namespace

void admit_new(Services& services, const Resource& resource, Value& object) {
  const std::string id = resource.id();
  if (id == "pods") {
    Value& spec = part(object, "spec");
    apply_limit_ranges(services, object);
    if (services.options.cluster_objects) mount_service_account(services, resource, object);
    resolve_priority(services, resource, object);
    add_tolerations(spec);
    apply_runtime_class(services, resource, object);
  } else if (id == "nodes") {
    add_not_ready_taint(object);
  } else if (id == "persistentvolumeclaims") {
    choose_storage_class(services, object);
    add_finalizer(object, "kubernetes.io/pvc-protection");
  } else if (id == "persistentvolumes") {
    add_finalizer(object, "kubernetes.io/pv-protection");
  } else if (id == "volumeattributesclasses.storage.k8s.io") {
    add_finalizer(object, "kubernetes.io/vac-protection");
  } else if (id == "ingresses.networking.k8s.io") {
    choose_ingress_class(services, object);
  }
}

void admit_change(const Resource& resource, const Value& live, Value& next) {
  if (resource.id() != "pods" || !std::as_const(next)["spec"].is_object()) return;
  Value& spec = next["spec"];
  for (const char* member : {"priority", "preemptionPolicy"}) {
    const Value& before = live["spec"][member];
    if (!before.is_absent()) fill(spec, member, before);
  }
  add_tolerations(spec);
}

void check_admitted(Services& services, const Resource& resource, std::string_view subresource,
                    const Value* live, const Value& object) {
  const std::string id = resource.id();
  if (id == "pods") {
    if (live == nullptr || subresource == "resize") check_limit_ranges(services, resource, object);
    if (live == nullptr) check_overhead(services, resource, object);
  } else if (id == "persistentvolumeclaims") {
    if (subresource.empty()) check_limit_ranges(services, resource, object);
  } else if (id == "priorityclasses.scheduling.k8s.io") {
    check_default_priority(services, resource, live, object);
  }
}

ApiError not_admitted(const Resource& resource, const Value& object, std::string_view why) {
  constexpr std::size_t kSuffix = 5;
  std::string name = metadata_text(object, "name");
  const std::string prefix = metadata_text(object, "generateName");
  if (!prefix.empty() && name.starts_with(prefix) && name.size() == prefix.size() + kSuffix) {
    name = prefix;
  }
  return forbidden(resource.group_resource(), name, why);
}

ApiError not_allowed(const Resource& resource, const Value& object, std::string_view why) {
  return forbidden(resource.group_resource(), metadata_text(object, "name"), why);
}

}  // namespace kube::testkit::detail
