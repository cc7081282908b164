// SPDX-License-Identifier: Apache-2.0
// What the server adds to objects of built-in kinds on its own: first states, and what the admission plugins do that
// every API server has switched on.
#include "kind_rules.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value_defaults.hpp"
#include "volume_claims.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

void add_finalizer(Value& object, const char* name) {
  if (!contains(std::as_const(object)["metadata"]["finalizers"], name)) {
    object["metadata"]["finalizers"].push_back(name);
  }
}

std::string quality_of_service(const Value& pod) {
  bool any = false;
  bool guaranteed = pod["spec"]["containers"].size() > 0;
  std::vector<const Value*> containers;
  for (const char* list : {"spec.initContainers", "spec.containers"}) {
    for (const Value& container : pod.get_array(list)) containers.push_back(&container);
  }
  for (const Value* container : containers) {
    const Value& resources = (*container)["resources"];
    for (const char* name : {"cpu", "memory"}) {
      const Value& limit = resources["limits"][name];
      const Value& request = resources["requests"][name];
      if (!limit.is_absent() || !request.is_absent()) any = true;
      if (limit.is_absent() || (!request.is_absent() && !(request == limit))) guaranteed = false;
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

/// Pods stay for five minutes on a node that is in trouble.
void add_tolerations(Value& spec) {
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool tolerated = false;
    for (std::size_t i = 0; i < std::as_const(spec)["tolerations"].size(); ++i) {
      const Value& one = std::as_const(spec)["tolerations"][i];
      tolerated =
          tolerated || ((text(one["key"]) == key || text(one["key"]).empty()) &&
                        (text(one["effect"]) == "NoExecute" || text(one["effect"]).empty()));
    }
    if (tolerated) continue;
    spec["tolerations"].push_back(Value::object({{"key", key},
                                                 {"operator", "Exists"},
                                                 {"effect", "NoExecute"},
                                                 {"tolerationSeconds", 300}}));
  }
}

void set_priority(Value& spec) {
  const bool node_critical =
      std::as_const(spec)["priorityClassName"] == Value{"system-node-critical"};
  const bool cluster_critical =
      std::as_const(spec)["priorityClassName"] == Value{"system-cluster-critical"};
  fill(spec, "priority", node_critical ? 2000001000 : cluster_critical ? 2000000000 : 0);
  fill(spec, "preemptionPolicy", "PreemptLowerPriority");
}

/// A job selects its pods by its own uid, unless somebody takes care of that.
void set_selector(Value& job) {
  Value& spec = part(job, "spec");
  if (std::as_const(spec)["manualSelector"] == Value{true}) return;
  const std::string uid{text(std::as_const(job)["metadata"]["uid"])};
  const std::string name{text(std::as_const(job)["metadata"]["name"])};
  Value& labels = part(part(part(spec, "template"), "metadata"), "labels");
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    fill(labels, fmt::format("{}controller-uid", prefix).c_str(), uid);
    fill(labels, fmt::format("{}job-name", prefix).c_str(), name);
  }
  fill(part(part(spec, "selector"), "matchLabels"), "batch.kubernetes.io/controller-uid", uid);
  if (std::as_const(job)["metadata"]["labels"].size() == 0) {
    job["metadata"]["labels"] = Value{std::as_const(labels)};
  }
}

}  // namespace

void allocate_addresses(Value& service) {
  Value& spec = part(service, "spec");
  if (std::as_const(spec)["type"] == Value{"ExternalName"}) return;
  // Addresses without a first one are refused later.
  if (text(std::as_const(spec)["clusterIP"]).empty() &&
      std::as_const(spec)["clusterIPs"].size() == 0) {
    // Any address will do, as there is no network; it only must not change.
    const std::size_t hash =
        std::hash<std::string_view>{}(service.get_string("metadata.uid").value_or(""));
    spec["clusterIP"] =
        fmt::format("10.{}.{}.{}", 96 + hash % 16, (hash >> 8) % 256, 1 + (hash >> 16) % 254);
  }
  if (std::as_const(spec)["clusterIPs"].size() == 0) {
    spec["clusterIPs"] = Value::array({std::as_const(spec)["clusterIP"]});
  }
  // Nobody knows what stands behind a name without selector and address, so it may be anything.
  const bool both = std::as_const(spec)["clusterIP"] == Value{"None"} &&
                    std::as_const(spec)["selector"].size() == 0;
  fill(spec, "ipFamilies", both ? Value::array({"IPv4", "IPv6"}) : Value::array({"IPv4"}));
  fill(spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
}

void set_initial_state(const Resource& resource, Value& object) {
  const std::string id = resource.id();
  // Nodes register themselves together with their status.
  if (resource.subresource("status") != nullptr && id != "nodes") object.erase("status");
  if (id == "pods") {
    object["status"] =
        Value::object({{"phase", "Pending"}, {"qosClass", quality_of_service(object)}});
  } else if (id == "persistentvolumes" || id == "persistentvolumeclaims") {
    object["status"] = Value::object({{"phase", "Pending"}});
    if (id == "persistentvolumeclaims") normalize_data_sources(object);
  } else if (id == "namespaces") {
    object["status"] = Value::object({{"phase", "Active"}});
    Value& finalizers = part(object, "spec")["finalizers"];
    if (!contains(finalizers, "kubernetes")) finalizers.push_back("kubernetes");
  } else if (id == "services") {
    allocate_addresses(object);
  } else if (id == "jobs.batch") {
    set_selector(object);
  } else if (id == "daemonsets.apps") {
    object["metadata"]["annotations"][kTemplateGeneration] = "1";
  } else if (id == "customresourcedefinitions.apiextensions.k8s.io") {
    Value stored = Value::array();
    for (const Value& version : std::as_const(object).get_array("spec.versions")) {
      if (version["storage"] == Value{true}) stored.push_back(version["name"]);
    }
    object["status"]["storedVersions"] = std::move(stored);
  }
}

void count_template(const Resource& resource, const Value& live, Value& next) {
  if (resource.id() != "daemonsets.apps") return;
  std::int64_t count = 0;
  const std::string before{text(live["metadata"]["annotations"][kTemplateGeneration])};
  std::from_chars(before.data(), before.data() + before.size(), count);
  if (!(live["spec"]["template"] == std::as_const(next)["spec"]["template"])) ++count;
  next["metadata"]["annotations"][kTemplateGeneration] = std::to_string(count);
}

void admit_new(const Resource& resource, Value& object) {
  const std::string id = resource.id();
  if (id == "pods") {
    Value& spec = part(object, "spec");
    add_tolerations(spec);
    set_priority(spec);
  } else if (id == "nodes") {
    const Value taint =
        Value::object({{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}});
    Value& spec = part(object, "spec");
    if (!contains(std::as_const(spec)["taints"], taint)) spec["taints"].push_back(taint);
  } else if (id == "persistentvolumeclaims") {
    add_finalizer(object, "kubernetes.io/pvc-protection");
  } else if (id == "persistentvolumes") {
    add_finalizer(object, "kubernetes.io/pv-protection");
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

}  // namespace kube::testkit::detail
