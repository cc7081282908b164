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

}  // namespace kube::testkit::detail
