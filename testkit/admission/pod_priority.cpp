// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/pod_priority.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "testkit/admission/admission.hpp"
#include "testkit/defaults/value_defaults.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kPreemptLower = "PreemptLowerPriority";

Value priority_class(const char* name, std::int64_t value) {
  return Value::object({{"metadata", Value::object({{"name", name}})},
                        {"value", value},
                        {"preemptionPolicy", kPreemptLower}});
}

/// Returns the class of that name, or an absent value. The two system classes are known even if
/// they are not stored.
Value find_class(Services& services, std::string_view name) {
  if (const StoredObject found = services.store.get(services.priority_classes(), name)) {
    return *found.value();
  }
  if (name == "system-node-critical") return priority_class("system-node-critical", 2000001000);
  if (name == "system-cluster-critical") {
    return priority_class("system-cluster-critical", 2000000000);
  }
  return {};
}

/// Returns the default class; the lowest if there are several. Absent if there is none.
Value default_class(Services& services) {
  Value lowest;
  if (services.priority_classes().size() == 0) return lowest;
  for (const auto& [key, object] : services.store.list(services.priority_classes(), {}).objects) {
    if (object.field_text("globalDefault") != "true") continue;
    const Ref<Value> candidate = object.value();
    if (lowest.is_absent() ||
        candidate->get_integer("value").value_or(0) < lowest.get_integer("value").value_or(0)) {
      lowest = *candidate;
    }
  }
  return lowest;
}

}  // namespace

void resolve_priority(Services& services, const Resource& resource, Value& pod) {
  Value& spec = part(pod, "spec");
  const std::string wanted{text_member(spec, "priorityClassName")};
  Value found = wanted.empty() ? default_class(services) : find_class(services, wanted);
  if (found.is_absent()) {
    if (!wanted.empty()) {
      throw not_admitted(resource, pod,
                         fmt::format("no PriorityClass with name {} was found", wanted));
    }
    found = priority_class("", 0);
  }
  const std::string name = metadata_text(found, "name");
  const std::int64_t priority = found.get_integer("value").value_or(0);
  const std::string policy{found.get_string("preemptionPolicy").value_or(kPreemptLower)};
  if (const auto given = spec.get_integer("priority"); given && *given != priority) {
    throw not_admitted(
        resource, pod,
        fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                    "admission controller computed {} from the given PriorityClass name",
                    *given, priority));
  }
  if (const std::string_view given = text_member(spec, "preemptionPolicy");
      !given.empty() && given != policy) {
    throw not_admitted(
        resource, pod,
        fmt::format("the string value of PreemptionPolicy ({}) must not be provided in pod spec; "
                    "priority admission controller computed {} from the given PriorityClass name",
                    given, policy));
  }
  if (!name.empty()) spec["priorityClassName"] = name;
  spec["priority"] = priority;
  spec["preemptionPolicy"] = policy;
}

void check_default_priority(Services& services, const Resource& resource, const Value* live,
                            const Value& priority_class) {
  if (!is_true_member(priority_class, "globalDefault")) return;
  const Value other = default_class(services);
  if (other.is_absent()) return;
  const std::string name = metadata_text(other, "name");
  if (live != nullptr && name == metadata_text(priority_class, "name")) return;
  throw not_allowed(
      resource, priority_class,
      fmt::format("PriorityClass {} is already marked as default. Only one default can exist",
                  name));
}

}  // namespace kube::testkit::detail
