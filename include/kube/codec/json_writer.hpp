// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube::detail {

/// Appends JSON to a text as the API server writes it: compact, maps sorted, empty fields omitted
/// according to the descriptors, `<`, `>` and `&` escaped.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  /// Writes any value; an API object starts with its kind and apiVersion.
  void value(const Type& type, const std::byte* value);
  /// Writes an object without kind and apiVersion, as an item of a list.
  void item(const Type& type, const std::byte* value) { object(type, value, false); }

  void text(std::string_view text);
  void integer(std::int64_t number);
  void number(double number);
  void boolean(bool flag) { raw(flag ? "true" : "false"); }
  void null() { raw("null"); }
  /// Appends text that is already JSON.
  void raw(std::string_view json) { out_.append(json); }

 private:
  void object(const Type& type, const std::byte* value, bool with_type_meta);
  void by_token(const Type& type, const std::byte* value);
  void list(const Type& type, const std::byte* value, bool of_items = false);
  void map(const Type& type, const std::byte* value);
  void any(const std::byte* value);

  std::string& out_;
};

}  // namespace kube::detail
