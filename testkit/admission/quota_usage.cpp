// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/quota_usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

const GroupResource kPods{"", "pods"};
const GroupResource kServices{"", "services"};
const GroupResource kClaims{"", "persistentvolumeclaims"};
const GroupResource kDeviceClaims{"resource.k8s.io", "resourceclaims"};
constexpr std::string_view kOfStorageClass = ".storageclass.storage.k8s.io/";
constexpr std::string_view kOfDeviceClass = ".deviceclass.resource.k8s.io/devices";
/// The most devices that one claim can get; counted for requests of all devices.
constexpr int kMaxDevices = 32;
/// Core resources that quotas limit by their plain name.
constexpr std::array<std::string_view, 4> kPlainCounts{"configmaps", "secrets",
                                                       "replicationcontrollers", "resourcequotas"};

/// Returns amounts of containers or of a pod under the names that quotas use.
ResourceAmounts compute_usage(const ResourceAmounts& requests, const ResourceAmounts& limits) {
  ResourceAmounts usage;
  for (const auto& [name, amount] : requests) {
    const bool is_compute = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (is_compute || name.starts_with("hugepages-")) usage[name] = amount;
    usage["requests." + name] = amount;
  }
  for (const auto& [name, amount] : limits) {
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage") {
      usage["limits." + name] = amount;
    }
  }
  return usage;
}

ResourceAmounts pod_usage(const Value& pod) {
  const std::string_view phase = text_member(pod["status"], "phase");
  if (phase == "Failed" || phase == "Succeeded") return {};
  ResourceAmounts usage = compute_usage(pod_requests(pod), pod_limits(pod));
  usage["pods"] = "1";
  return usage;
}

ResourceAmounts service_usage(const Value& service) {
  const Value& spec = service["spec"];
  ResourceAmounts usage{{"services", "1"}};
  const bool is_balanced = spec["type"] == Value{"LoadBalancer"};
  if (is_balanced) usage["services.loadbalancers"] = "1";
  if (!is_balanced && spec["type"] != Value{"NodePort"}) return usage;
  const bool allocates = !is_balanced || spec["allocateLoadBalancerNodePorts"] != Value{false};
  std::size_t ports = 0;
  for (const Value& port : service.get_array("spec.ports")) {
    if (allocates || port.get_integer("nodePort").value_or(0) != 0) ++ports;
  }
  usage["services.nodeports"] = std::to_string(ports);
  return usage;
}

ResourceAmounts claim_usage(const Value& claim) {
  ResourceAmounts usage{{"persistentvolumeclaims", "1"}};
  const std::string storage_class{text_member(claim["spec"], "storageClassName")};
  const std::string of_class =
      storage_class.empty() ? "" : storage_class + std::string{kOfStorageClass};
  if (!of_class.empty()) usage[of_class + "persistentvolumeclaims"] = "1";
  const ResourceAmounts requests = amounts_of(claim["spec"]["resources"]["requests"]);
  if (const auto storage = requests.find("storage"); storage != requests.end()) {
    usage["requests.storage"] = storage->second;
    if (!of_class.empty()) usage[of_class + "requests.storage"] = storage->second;
  }
  return usage;
}

/// Returns the number of devices of a request, or of an alternative of one, by class.
ResourceAmounts requested_devices(const Value& request) {
  const std::string_view mode = text_member(request, "allocationMode");
  Quantity count{"0"};
  if (mode == "ExactCount") count = std::to_string(request.get_integer("count").value_or(0));
  if (mode == "All") count = std::to_string(kMaxDevices);
  return {{fmt::format("{}{}", text_member(request, "deviceClassName"), kOfDeviceClass), count}};
}

/// Counts the alternative with the most devices of each class, as any of them may be chosen.
ResourceAmounts device_usage(const Value& claim) {
  ResourceAmounts usage;
  for (const Value& request : claim.get_array("spec.devices.requests")) {
    ResourceAmounts most;
    for (const Value& alternative : request.get_array("firstAvailable")) {
      for (const auto& [name, count] : requested_devices(alternative)) {
        Quantity& so_far = most.try_emplace(name, count).first->second;
        if (so_far < count) so_far = count;
      }
    }
    if (request["exactly"].is_object()) most = requested_devices(request["exactly"]);
    add_amounts(usage, most);
  }
  return usage;
}

bool reaches_other_namespaces(const Value& pod) {
  const auto reaches = [](const Value& term) {
    return term["namespaces"].size() > 0 || term["namespaceSelector"].is_object();
  };
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const Value& affinity = pod["spec"]["affinity"][kind];
    for (const Value& term : affinity.get_array("requiredDuringSchedulingIgnoredDuringExecution")) {
      if (reaches(term)) return true;
    }
    for (const Value& term :
         affinity.get_array("preferredDuringSchedulingIgnoredDuringExecution")) {
      if (reaches(term["podAffinityTerm"])) return true;
    }
  }
  return false;
}

/// Returns whether a class satisfies a requirement such as {operator: In, values: [high]}.
bool selects_class(const Value& requirement, std::string_view name) {
  const std::string_view how = text_member(requirement, "operator");
  bool is_listed = false;
  for (const Value& value : requirement.get_array("values")) {
    is_listed = is_listed || value == Value{name};
  }
  if (how == "In") return !name.empty() && is_listed;
  if (how == "NotIn") return name.empty() || !is_listed;
  if (how == "DoesNotExist") return name.empty();
  return !name.empty();
}

bool fits_scope(std::string_view scope, const Value& requirement, const GroupResource& resource,
                const Value& object) {
  const Value& spec = object["spec"];
  if (resource == kClaims) {
    return scope == "VolumeAttributesClass" &&
           selects_class(requirement, text_member(spec, "volumeAttributesClassName"));
  }
  if (resource != kPods) return false;
  const bool ends = spec.get_integer("activeDeadlineSeconds").value_or(-1) >= 0;
  if (scope == "Terminating") return ends;
  if (scope == "NotTerminating") return !ends;
  if (scope == "BestEffort") return quality_of_service(object) == "BestEffort";
  if (scope == "NotBestEffort") return quality_of_service(object) != "BestEffort";
  if (scope == "CrossNamespacePodAffinity") return reaches_other_namespaces(object);
  return scope == "PriorityClass" &&
         selects_class(requirement, text_member(spec, "priorityClassName"));
}

}  // namespace

ResourceAmounts usage_of(const GroupResource& resource, const Value& object) {
  ResourceAmounts usage;
  if (resource == kPods) {
    usage = pod_usage(object);
  } else if (resource == kServices) {
    usage = service_usage(object);
  } else if (resource == kClaims) {
    usage = claim_usage(object);
  } else if (resource == kDeviceClaims) {
    usage = device_usage(object);
  } else if (resource.group.empty() &&
             std::ranges::find(kPlainCounts, resource.resource) != kPlainCounts.end()) {
    usage[resource.resource] = "1";
  }
  usage["count/" + to_string(resource)] = "1";
  return usage;
}

bool is_in_scope(const Value& quota, const GroupResource& resource, const Value& object) {
  for (const Value& scope : quota.get_array("spec.scopes")) {
    if (!fits_scope(scope.as_string(), Value{}, resource, object)) return false;
  }
  for (const Value& scope : quota.get_array("spec.scopeSelector.matchExpressions")) {
    if (!fits_scope(text_member(scope, "scopeName"), scope, resource, object)) return false;
  }
  return true;
}

GroupResource counted_resource(std::string_view limit) {
  if (limit.starts_with("count/")) {
    limit.remove_prefix(6);
    const std::size_t dot = limit.find('.');
    if (dot == std::string_view::npos) return {"", std::string{limit}};
    return {std::string{limit.substr(dot + 1)}, std::string{limit.substr(0, dot)}};
  }
  if (limit.starts_with("services")) return kServices;
  if (limit == "persistentvolumeclaims" || limit == "requests.storage" ||
      limit.find(kOfStorageClass) != std::string_view::npos) {
    return kClaims;
  }
  if (limit.ends_with(kOfDeviceClass)) return kDeviceClaims;
  if (std::ranges::find(kPlainCounts, limit) != kPlainCounts.end()) {
    return {"", std::string{limit}};
  }
  return kPods;
}

std::string missing_amounts(const ResourceAmounts& hard, const Value& pod) {
  const Value& own = pod["spec"]["resources"];
  if (own["requests"].size() + own["limits"].size() > 0) return {};
  std::map<std::string, std::set<std::string>> missing;
  for (const char* list : {"spec.containers", "spec.initContainers"}) {
    for (const Value& container : pod.get_array(list)) {
      const ResourceAmounts usage = compute_usage(amounts_of(container["resources"]["requests"]),
                                                  amounts_of(container["resources"]["limits"]));
      for (const char* name :
           {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}) {
        if (hard.contains(name) && !usage.contains(name)) {
          missing[name].emplace(text_member(container, "name"));
        }
      }
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, containers] : missing) {
    parts.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  }
  return parts.empty() ? "" : fmt::format("must specify {}", fmt::join(parts, "; "));
}

}  // namespace kube::testkit::detail
