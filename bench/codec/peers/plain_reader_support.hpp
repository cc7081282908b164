// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plain_pod.hpp"

#include <simdjson.h>

#include <string>
#include <string_view>

/// Readers for the member types of the structs. Included by the generated readers of the structs,
/// which are all called `parse`, after their declarations.
namespace kube::bench::plain {

using OnDemand = simdjson::ondemand::value;

inline void parse(OnDemand json, std::string& value) {
  value = std::string_view{json.get_string()};
}
inline void parse(OnDemand json, bool& value) { value = json.get_bool(); }
inline void parse(OnDemand json, std::int64_t& value) { value = json.get_int64(); }
inline void parse(OnDemand json, std::int32_t& value) {
  value = static_cast<std::int32_t>(std::int64_t{json.get_int64()});
}
inline void parse(OnDemand json, Time& value) {
  value = parse_time(std::string_view{json.get_string()});
}
inline void parse(OnDemand json, Quantity& value) { parse(json, value.text); }
inline void parse(OnDemand json, FieldsV1& value) {
  value.text = std::string_view{simdjson::to_json_string(json)};
}
inline void parse(OnDemand json, IntOrString& value) {
  if (json.type() == simdjson::ondemand::json_type::string) {
    parse(json, value.emplace<std::string>());
  } else {
    parse(json, value.emplace<std::int32_t>());
  }
}

template <typename T>
void parse(OnDemand json, std::optional<T>& value) {
  parse(json, value.emplace());
}
template <typename T>
void parse(OnDemand json, Box<T>& value) {
  parse(json, value.emplace());
}
template <typename T>
void parse(OnDemand json, std::vector<T>& value) {
  for (OnDemand element : json.get_array()) parse(element, value.emplace_back());
}
template <typename T>
void parse(OnDemand json, std::map<std::string, T>& value) {
  for (auto member : json.get_object()) {
    const std::string_view key = member.unescaped_key();
    parse(member.value(), value[std::string{key}]);
  }
}

/// Reads a member, which may be null.
template <typename T>
void parse_member(OnDemand json, T& value) {
  if (!json.is_null()) parse(json, value);
}

}  // namespace kube::bench::plain
