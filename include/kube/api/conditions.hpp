// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/time.hpp>
#include <kube/object/list.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

/// @file
/// Reads and writes lists of conditions: meta::v1::Condition and every other condition type of the
/// API, since all have a type and a status.
namespace kube {

/// Returns the condition of that type, or null.
template <typename Condition>
[[nodiscard]] const Condition* find_condition(const List<Condition>& conditions,
                                              std::string_view type) noexcept {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& one) { return one.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

/// True if the condition of that type exists and has this status.
template <typename Condition>
[[nodiscard]] bool is_condition(const List<Condition>& conditions, std::string_view type,
                                std::string_view status) noexcept {
  const Condition* condition = find_condition(conditions, type);
  return condition != nullptr && condition->status == status;
}
/// True if the condition of that type exists with the status "True".
template <typename Condition>
[[nodiscard]] bool is_condition_true(const List<Condition>& conditions,
                                     std::string_view type) noexcept {
  return is_condition(conditions, type, "True");
}
/// True if the condition of that type exists with the status "False". A missing or unknown
/// condition is neither true nor false.
template <typename Condition>
[[nodiscard]] bool is_condition_false(const List<Condition>& conditions,
                                      std::string_view type) noexcept {
  return is_condition(conditions, type, "False");
}

/// Adds `condition`, or updates the one of its type (meta.SetStatusCondition). The transition time
/// only changes with the status: to the given one, or else to `now`. Returns true if anything
/// changed.
template <typename Condition>
bool set_condition(List<Condition>& conditions, Condition condition, Time now) {
  for (Condition& existing : conditions) {
    if (existing.type != condition.type) continue;
    if (existing.status == condition.status) {
      condition.last_transition_time = existing.last_transition_time;
    } else if (!condition.last_transition_time) {
      condition.last_transition_time = now;
    }
    if (existing == condition) return false;
    existing = std::move(condition);
    return true;
  }
  if (!condition.last_transition_time) condition.last_transition_time = now;
  conditions.push_back(std::move(condition));
  return true;
}

/// Removes the condition of that type. Returns false if there was none.
template <typename Condition>
bool remove_condition(List<Condition>& conditions, std::string_view type) {
  return conditions.erase_if([&](const Condition& one) { return one.type == type; }) > 0;
}

}  // namespace kube
