// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The member types of the plain structs: the standard library, and nlohmann::json to fill them.
/// This is how one would write them by hand, with some care for memory: an optional struct is boxed
/// (std::optional would take its space even when absent), a time is a number.
namespace kube::bench::plain {

using Json = nlohmann::json;
using Time = std::optional<std::chrono::sys_seconds>;
using IntOrString = std::variant<std::int32_t, std::string>;

/// A quantity, kept as text.
struct Quantity {
  std::string text;
  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// JSON text: the smallest form that can be parsed again. (A Json tree would take about ten times
/// as much.)
struct FieldsV1 {
  std::string text;
  friend bool operator==(const FieldsV1&, const FieldsV1&) = default;
};

/// An optional value on the heap, which is copied with its owner.
template <typename T>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) { return *this = Box{other}; }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  explicit operator bool() const noexcept { return value_ != nullptr; }
  const T& operator*() const noexcept { return *value_; }
  T& emplace() { return *(value_ = std::make_unique<T>()); }

  friend bool operator==(const Box& a, const Box& b) {
    return a && b ? *a == *b : static_cast<bool>(a) == static_cast<bool>(b);
  }

 private:
  std::unique_ptr<T> value_;
};

void from_json(const Json& json, Quantity& value);
void to_json(Json& json, const Quantity& value);
void from_json(const Json& json, FieldsV1& value);
void to_json(Json& json, const FieldsV1& value);

/// Parses "2026-01-31T12:00:00Z". Throws std::invalid_argument.
[[nodiscard]] std::chrono::sys_seconds parse_time(std::string_view text);

void read_value(const Json& json, Time& value);
void read_value(const Json& json, IntOrString& value);
template <typename T>
void read_value(const Json& json, T& value) {
  json.get_to(value);
}
template <typename T>
void read_value(const Json& json, std::optional<T>& value) {
  json.get_to(value.emplace());
}
template <typename T>
void read_value(const Json& json, Box<T>& value) {
  json.get_to(value.emplace());
}

template <typename T>
void read(const Json& object, const char* name, T& value) {
  const auto found = object.find(name);
  if (found != object.end() && !found->is_null()) read_value(*found, value);
}

[[nodiscard]] Json json_of(const Time& value);
[[nodiscard]] Json json_of(const IntOrString& value);
template <typename T>
[[nodiscard]] Json json_of(const T& value) {
  return value;
}
template <typename T>
[[nodiscard]] Json json_of(const std::optional<T>& value) {
  return *value;
}
template <typename T>
[[nodiscard]] Json json_of(const Box<T>& value) {
  return *value;
}

template <typename T>
void write(Json& object, const char* name, const T& value) {
  object[name] = json_of(value);
}

template <typename T>
[[nodiscard]] bool is_empty(const T& value) {
  if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return !value;
  }
}
template <typename T>
void write_unless_empty(Json& object, const char* name, const T& value) {
  if (!is_empty(value)) write(object, name, value);
}

}  // namespace kube::bench::plain
