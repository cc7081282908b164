// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <utility>

/// Small steps by which objects are filled in.
namespace kube::testkit::detail {

[[nodiscard]] inline bool is_unset(const Value& value) {
  return value.is_absent() || value.is_null();
}

/// Sets a member that is not there.
inline void fill(Value& object, const char* member, Value value) {
  if (is_unset(std::as_const(object)[member])) object[member] = std::move(value);
}

/// An object to put something into, made if it is missing.
[[nodiscard]] inline Value& part(Value& object, const char* member) {
  if (!std::as_const(object)[member].is_object()) object[member] = Value::object();
  return object[member];
}

[[nodiscard]] inline bool contains(const Value& list, const Value& element) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == element) return true;
  }
  return false;
}

}  // namespace kube::testkit::detail
