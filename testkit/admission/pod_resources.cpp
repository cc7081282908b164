// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/pod_resources.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

void raise_amounts(ResourceAmounts& amounts, const ResourceAmounts& least) {
  for (const auto& [name, amount] : least) {
    const auto [known, is_new] = amounts.try_emplace(name, amount);
    if (!is_new && known->second < amount) known->second = amount;
  }
}

/// `list` is "requests" or "limits".
ResourceAmounts container_amounts(const Value& pod, const char* list) {
  ResourceAmounts together;
  for (const Value& container : pod.get_array("spec.containers")) {
    add_amounts(together, amounts_of(container["resources"][list]));
  }
  ResourceAmounts sidecars;
  ResourceAmounts at_start;
  for (const Value& container : pod.get_array("spec.initContainers")) {
    ResourceAmounts amounts = amounts_of(container["resources"][list]);
    if (container["restartPolicy"] == Value{"Always"}) {
      add_amounts(together, amounts);
      add_amounts(sidecars, amounts);
      raise_amounts(at_start, sidecars);
    } else {
      add_amounts(amounts, sidecars);
      raise_amounts(at_start, amounts);
    }
  }
  raise_amounts(together, at_start);
  return together;
}

void prefer_own(ResourceAmounts& amounts, const Value& own) {
  for (auto& [name, amount] : amounts_of(own)) {
    if (is_pod_level_resource(name)) amounts[name] = amount;
  }
}

bool is_zero(const Quantity& amount) { return amount == Quantity{}; }

/// Returns the positive amounts of cpu and memory.
ResourceAmounts compute_amounts(const Value& list) {
  ResourceAmounts amounts = amounts_of(list);
  std::erase_if(amounts, [](const auto& entry) {
    return (entry.first != "cpu" && entry.first != "memory") || is_zero(entry.second);
  });
  return amounts;
}

}  // namespace

ResourceAmounts amounts_of(const Value& list) {
  ResourceAmounts amounts;
  if (!list.is_object()) return amounts;
  for (const auto& [name, amount] : list.as_object()) {
    if (!amount.is_string()) continue;
    try {
      amounts.emplace(name.view(), Quantity{amount.as_string()});
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  return amounts;
}

Value list_of(const ResourceAmounts& amounts) {
  Value list = Value::object();
  for (const auto& [name, amount] : amounts) list[name] = amount.canonical().text();
  return list;
}

void add_amounts(ResourceAmounts& amounts, const ResourceAmounts& more) {
  for (const auto& [name, amount] : more) {
    const auto [known, is_new] = amounts.try_emplace(name, amount);
    if (!is_new) known->second += amount;
  }
}

std::string to_text(const ResourceAmounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) {
    if (!text.empty()) text.push_back(',');
    text.append(name).append("=").append(amount.canonical().text());
  }
  return text;
}

bool is_pod_level_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

ResourceAmounts container_requests(const Value& pod) { return container_amounts(pod, "requests"); }

ResourceAmounts pod_requests(const Value& pod) {
  ResourceAmounts requests = container_requests(pod);
  prefer_own(requests, pod["spec"]["resources"]["requests"]);
  add_amounts(requests, amounts_of(pod["spec"]["overhead"]));
  return requests;
}

ResourceAmounts pod_limits(const Value& pod) {
  ResourceAmounts limits = container_amounts(pod, "limits");
  prefer_own(limits, pod["spec"]["resources"]["limits"]);
  for (const auto& [name, amount] : amounts_of(pod["spec"]["overhead"])) {
    const auto known = limits.find(name);
    if (known != limits.end() && !is_zero(known->second)) known->second += amount;
  }
  return limits;
}

std::string_view quality_of_service(const Value& pod) {
  std::vector<const Value*> owners;
  const Value& own = pod["spec"]["resources"];
  if (own["requests"].size() + own["limits"].size() > 0) {
    owners.push_back(&pod["spec"]);
  } else {
    for (const char* list : {"spec.initContainers", "spec.containers"}) {
      for (const Value& container : pod.get_array(list)) owners.push_back(&container);
    }
  }
  ResourceAmounts requests;
  ResourceAmounts limits;
  bool guaranteed = true;
  for (const Value* owner : owners) {
    add_amounts(requests, compute_amounts((*owner)["resources"]["requests"]));
    const ResourceAmounts limited = compute_amounts((*owner)["resources"]["limits"]);
    if (limited.size() < 2) guaranteed = false;
    add_amounts(limits, limited);
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return guaranteed && requests == limits ? "Guaranteed" : "Burstable";
}

}  // namespace kube::testkit::detail
