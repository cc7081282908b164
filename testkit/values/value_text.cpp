// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/value_text.hpp"

#include "codec/yaml_reader.hpp"
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

std::string json_text(const Value& value) { return encode_json(value); }

std::string yaml_text(const Value& value) { return yaml_from_json(value); }

Ref<Value> parse_json(std::string_view json) { return decode_json<Value>(json); }

Ref<Value> parse_yaml(std::string_view yaml) { return decode_yaml<Value>(yaml); }

Ref<Value> parse_yaml(std::string_view yaml, std::vector<std::string>& duplicates) {
  std::vector<kube::detail::YamlDuplicate> found;
  Ref<Value> document = freeze(kube::detail::read_yaml_document(yaml, &found));
  for (const kube::detail::YamlDuplicate& one : found) {
    duplicates.push_back(fmt::format("line {}: key {} already set in map", one.line, one.key));
  }
  return document;
}

void append_json_string(std::string& out, std::string_view text) {
  kube::detail::JsonWriter{out}.text(text);
}

std::string string_at(const Value& object, std::string_view path) {
  return std::string{object.get_string(path).value_or("")};
}

std::vector<std::string> strings_at(const Value& object, std::string_view path) {
  std::vector<std::string> texts;
  for (const Value& one : object.get_array(path)) {
    if (one.is_string()) texts.emplace_back(one.as_string());
  }
  return texts;
}

Value string_list(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

}  // namespace kube::testkit::detail
