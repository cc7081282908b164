// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

/// In-place modification of values, beyond the interface of Value. Only for values that own their
/// memory: built by hand or copied out of a Ref.
namespace kube::testkit::detail {

/// Returns the mutable elements of an array. Throws ValueError if it is not an array.
inline List<Value>& elements(Value& array) {
  return const_cast<List<Value>&>(std::as_const(array).as_array());
}

/// Returns the mutable members of an object. Throws ValueError if it is not an object. Adding
/// members in key order takes linear time, any other order does not.
inline Map<Value>& members(Value& object) {
  return const_cast<Map<Value>&>(std::as_const(object).as_object());
}

inline const Value* member(const Value& object, std::string_view key) {
  return object.is_object() ? object.as_object().find(key) : nullptr;
}

inline Value* member(Value& object, std::string_view key) {
  return object.is_object() ? members(object).find(key) : nullptr;
}

/// Returns the string value of a member; empty if it is absent or not a string.
inline std::string_view text_member(const Value& object, std::string_view key) {
  const Value* found = member(object, key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string_view{};
}

/// Returns whether a member exists and is true.
inline bool is_true_member(const Value& object, std::string_view key) {
  const Value* found = member(object, key);
  return found != nullptr && found->kind() == Value::Kind::kBool && found->as_bool();
}

inline void insert_element(Value& array, std::size_t index, Value element) {
  array.push_back(std::move(element));
  List<Value>& list = elements(array);
  std::rotate(list.begin() + static_cast<std::ptrdiff_t>(index), list.end() - 1, list.end());
}

inline void erase_element(Value& array, std::size_t index) {
  std::size_t i = 0;
  elements(array).erase_if([&](const Value&) { return i++ == index; });
}

}  // namespace kube::testkit::detail
