// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <utility>

#include "testkit/values/value_edit.hpp"

/// Helpers to fill in defaults.
namespace kube::testkit::detail {

[[nodiscard]] inline bool is_unset(const Value& value) {
  return value.is_absent() || value.is_null();
}

/// Returns whether a member counts as unset: "" and 0 do, too.
[[nodiscard]] inline bool is_empty(const Value& value) {
  return is_unset(value) || value == Value{""} || value == Value{0};
}

/// Sets a member if it is absent.
inline void fill(Value& object, const char* member, Value value) {
  if (is_unset(std::as_const(object)[member])) object[member] = std::move(value);
}

/// Sets a member if it is absent or empty.
inline void fill_empty(Value& object, const char* member, Value value) {
  if (is_empty(std::as_const(object)[member])) object[member] = std::move(value);
}

/// Returns a member that is an object, created if it is missing.
[[nodiscard]] inline Value& part(Value& object, const char* member) {
  if (!std::as_const(object)[member].is_object()) object[member] = Value::object();
  return object[member];
}

/// Calls `change` for each object in a list.
template <typename Change>
void each(Value& object, const char* member, Change change) {
  if (!std::as_const(object)[member].is_array()) return;
  for (Value& element : elements(object[member])) {
    if (element.is_object()) change(element);
  }
}

/// Calls `change` with a member that is an object.
template <typename Change>
void within(Value& object, const char* member, Change change) {
  if (std::as_const(object)[member].is_object()) change(object[member]);
}

[[nodiscard]] inline bool contains(const Value& list, const Value& element) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == element) return true;
  }
  return false;
}

}  // namespace kube::testkit::detail
