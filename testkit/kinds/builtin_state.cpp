// SPDX-License-Identifier: Apache-2.0
// The initial state of objects of built-in kinds.
#include "testkit/kinds/kind_rules.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/admission/pod_resources.hpp"
#include "testkit/cluster/volume_claims.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

std::string_view text(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

void set_pod_status(Value& pod) {
  pod["status"] = Value::object({{"phase", "Pending"}, {"qosClass", quality_of_service(pod)}});
  if (std::as_const(pod)["spec"]["schedulingGates"].size() == 0) return;
  pod["status"]["conditions"] = Value::array({Value::object(
      {{"type", "PodScheduled"},
       {"status", "False"},
       {"reason", "SchedulingGated"},
       {"message", "Scheduling is blocked due to non-empty scheduling gates"},
       {"lastTransitionTime", std::as_const(pod)["metadata"]["creationTimestamp"]}})});
}

/// Makes a Job select its pods by its own uid, unless it has a manual selector.
void set_selector(Value& job) {
  Value& spec = part(job, "spec");
  if (std::as_const(spec)["manualSelector"] == Value{true}) return;
  const std::string uid{text(std::as_const(job)["metadata"]["uid"])};
  const std::string name{text(std::as_const(job)["metadata"]["name"])};
  Value& labels = part(part(part(spec, "template"), "metadata"), "labels");
  // If the job's labels are those of its template, they stay equal.
  const bool shared = std::as_const(job)["metadata"]["labels"].size() == 0 ||
                      std::as_const(job)["metadata"]["labels"] == std::as_const(labels);
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    fill(labels, fmt::format("{}controller-uid", prefix).c_str(), uid);
    fill(labels, fmt::format("{}job-name", prefix).c_str(), name);
  }
  fill(part(part(spec, "selector"), "matchLabels"), "batch.kubernetes.io/controller-uid", uid);
  if (shared) job["metadata"]["labels"] = Value{std::as_const(labels)};
}

}  // namespace

void allocate_addresses(Value& service) {
  Value& spec = part(service, "spec");
  if (std::as_const(spec)["type"] == Value{"ExternalName"}) return;
  // clusterIPs without clusterIP are refused by validation.
  if (text(std::as_const(spec)["clusterIP"]).empty() &&
      std::as_const(spec)["clusterIPs"].size() == 0) {
    // There is no network, so any address works. It must be stable, so it is derived from the uid.
    const std::size_t hash =
        std::hash<std::string_view>{}(service.get_string("metadata.uid").value_or(""));
    spec["clusterIP"] =
        fmt::format("10.{}.{}.{}", 96 + hash % 16, (hash >> 8) % 256, 1 + (hash >> 16) % 254);
  }
  if (std::as_const(spec)["clusterIPs"].size() == 0) {
    spec["clusterIPs"] = Value::array({std::as_const(spec)["clusterIP"]});
  }
  // The endpoints of a headless service without selector are unknown, so both families are allowed.
  const bool both = std::as_const(spec)["clusterIP"] == Value{"None"} &&
                    std::as_const(spec)["selector"].size() == 0;
  fill(spec, "ipFamilies", both ? Value::array({"IPv4", "IPv6"}) : Value::array({"IPv4"}));
  fill(spec, "ipFamilyPolicy", both ? "RequireDualStack" : "SingleStack");
}

void set_initial_state(const Resource& resource, Value& object) {
  const std::string id = resource.id();
  // Nodes register themselves with their status.
  if (resource.subresource("status") != nullptr && id != "nodes") object.erase("status");
  if (id == "pods") {
    set_pod_status(object);
  } else if (id == "persistentvolumes") {
    object["status"] = Value::object(
        {{"phase", "Pending"},
         {"lastPhaseTransitionTime", std::as_const(object)["metadata"]["creationTimestamp"]}});
  } else if (id == "persistentvolumeclaims") {
    object["status"] = Value::object({{"phase", "Pending"}});
    normalize_data_sources(object);
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
  } else if (id == "resourceslices.resource.k8s.io") {
    const Value now = std::as_const(object)["metadata"]["creationTimestamp"];
    within(object, "spec", [&](Value& spec) {
      each(spec, "devices", [&](Value& device) {
        each(device, "taints", [&](Value& taint) { fill(taint, "timeAdded", now); });
      });
    });
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

void drop_empty_lists(Value& object) {
  std::vector<std::string> empty;
  for (const auto& [name, value] : std::as_const(object).as_object()) {
    if (value.is_array() && value.size() == 0) empty.emplace_back(name.view());
  }
  for (const std::string& name : empty) object.erase(name);
}

}  // namespace kube::testkit::detail
