// SPDX-License-Identifier: Apache-2.0
// Amounts of resources, in containers, quotas and limit ranges.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::array kContainerResources{"cpu", "memory", "ephemeral-storage"};

constexpr std::array kStandardResources{"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.storage",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "services",
                                        "resourcequotas",
                                        "replicationcontrollers",
                                        "secrets",
                                        "configmaps",
                                        "persistentvolumeclaims",
                                        "services.nodeports",
                                        "services.loadbalancers"};

constexpr std::array kCounted{"pods",
                              "resourcequotas",
                              "services",
                              "replicationcontrollers",
                              "secrets",
                              "configmaps",
                              "persistentvolumeclaims",
                              "services.nodeports",
                              "services.loadbalancers"};

bool is_huge_page(std::string_view name) { return name.starts_with("hugepages-"); }

/// Returns whether the resource name is outside of the kubernetes.io domain.
bool is_extended(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.");
}

bool may_be_overcommitted(std::string_view name) {
  return !is_extended(name) && !is_huge_page(name);
}

std::string_view text_of(const Value& value) {
  return value.is_string() ? value.as_string() : std::string_view{};
}

void check_request_against_limit(const Field& resources, std::string_view name) {
  const Value& limit_value = resources.value()["limits"][name];
  const auto request = quantity_of(resources.value()["requests"][name]);
  const auto limit = quantity_of(limit_value);
  if (!request) return;
  const Field requests = resources["requests"];
  if (!limit) {
    if (!may_be_overcommitted(name)) {
      resources["limits"].required("Limit must be set for non overcommitable resources");
    }
  } else if (*request != *limit && !may_be_overcommitted(name)) {
    requests.invalid(request->text(),
                     fmt::format("must be equal to {} limit of {}", name, text_of(limit_value)));
  } else if (*request > *limit) {
    requests.invalid(request->text(), fmt::format("must be less than or equal to {} limit of {}",
                                                  name, text_of(limit_value)));
  }
}

}  // namespace

bool is_standard_resource(std::string_view name) {
  return is_huge_page(name) || name.starts_with("requests.hugepages-") ||
         std::ranges::find(kStandardResources, name) != kStandardResources.end();
}

std::optional<Quantity> quantity_of(const Value& value) {
  if (!value.is_string()) return std::nullopt;
  try {
    return Quantity{value.as_string()};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void check_amount(const Field& amount, std::string_view resource) {
  const auto quantity = quantity_of(amount.value());
  if (!quantity) return;
  if (*quantity < Quantity{"0"}) {
    amount.invalid("must be greater than or equal to 0");
  }
  const bool counted = is_extended(resource) || resource.starts_with("count/") ||
                       std::ranges::find(kCounted, resource) != kCounted.end();
  if (counted && *quantity != Quantity{std::to_string(quantity->value())}) {
    amount.invalid("must be an integer");
  }
}

void check_container_resource_name(const Field& amount, std::string_view name) {
  const Problems problems = qualified_name_problems(name);
  for (const std::string& problem : problems) amount.invalid(name, problem);
  if (name.find('/') != std::string_view::npos) return;
  if (problems.empty() && !is_standard_resource(name)) {
    amount.invalid(name, "must be a standard resource type or fully qualified");
  }
  if (!is_huge_page(name) &&
      std::ranges::find(kContainerResources, name) == kContainerResources.end()) {
    amount.invalid(name, "must be a standard resource for containers");
  }
}

void check_resource_amounts(const Field& amounts) {
  if (!amounts.value().is_object()) return;
  for (const auto& [name, value] : amounts.value().as_object()) {
    const Field amount = amounts.key(name);
    check_container_resource_name(amount, name);
    check_amount(amount, name);
  }
}

void check_resource_requirements(const Field& resources) {
  if (!resources.is_set()) return;
  check_resource_amounts(resources["limits"]);
  check_resource_amounts(resources["requests"]);
  const Value& requests = resources.value()["requests"];
  const Value& limits = resources.value()["limits"];
  bool huge = false;
  bool plain = false;
  for (const Value* amounts : {&limits, &requests}) {
    if (!amounts->is_object()) continue;
    for (const auto& [name, value] : amounts->as_object()) {
      huge = huge || is_huge_page(name);
      plain = plain || name == "cpu" || name == "memory";
    }
  }
  if (requests.is_object()) {
    for (const auto& [name, value] : requests.as_object()) {
      check_request_against_limit(resources, name);
    }
  }
  if (huge && !plain) resources.forbidden("HugePages require cpu or memory");
}

}  // namespace kube::testkit::detail
