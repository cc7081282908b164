// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

/// Changing values in place, beyond what Value itself offers. All of it is for values made by hand or
/// copied out of a Ref.
namespace kube::testkit::detail {

/// The elements of an array, to be changed. Throws ValueError if it is none.
inline List<Value>& elements(Value& array) {
  return const_cast<List<Value>&>(std::as_const(array).as_array());
}

/// The members of an object, to be changed. Throws ValueError if it is none.
/// Adding them in the order of their keys takes linear time, any other order does not.
inline Map<Value>& members(Value& object) {
  return const_cast<Map<Value>&>(std::as_const(object).as_object());
}

inline const Value* member(const Value& object, std::string_view key) {
  return object.is_object() ? object.as_object().find(key) : nullptr;
}

inline Value* member(Value& object, std::string_view key) {
  return object.is_object() ? members(object).find(key) : nullptr;
}

/// The text of a member, or nothing if it is absent or no text.
inline std::string_view text_member(const Value& object, std::string_view key) {
  const Value* found = member(object, key);
  return found != nullptr && found->is_string() ? found->as_string() : std::string_view{};
}

/// Whether a member is there and true.
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
