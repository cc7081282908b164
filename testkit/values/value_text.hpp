// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Conversion of documents from and to text.
namespace kube::testkit::detail {

[[nodiscard]] std::string json_text(const Value& value);
[[nodiscard]] std::string yaml_text(const Value& value);
/// Parse a document. Throw CodecError.
[[nodiscard]] Ref<Value> parse_json(std::string_view json);
[[nodiscard]] Ref<Value> parse_yaml(std::string_view yaml);
/// Does the same for a body in which keys may occur twice; the last one counts. Appends a line for
/// each duplicate to `duplicates`, in the words of a real server.
[[nodiscard]] Ref<Value> parse_yaml(std::string_view yaml, std::vector<std::string>& duplicates);
/// Appends `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);

/// Returns the string at a path such as "spec.token"; empty if there is none.
[[nodiscard]] std::string string_at(const Value& object, std::string_view path);
/// Returns the strings of the array at a path.
[[nodiscard]] std::vector<std::string> strings_at(const Value& object, std::string_view path);
/// Returns an array of strings.
[[nodiscard]] Value string_list(const std::vector<std::string>& texts);

}  // namespace kube::testkit::detail
