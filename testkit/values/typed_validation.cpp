// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/schema_view.hpp"
#include "testkit/values/typed_value.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <unordered_map>

namespace kube::testkit::detail {

namespace {

using Shape = SchemaNode::Shape;

class Validator {
 public:
  std::vector<std::string> errors;

  void visit(const SchemaNode& schema, const Value& value, const std::string& path) {
    if (value.is_null()) return;
    switch (schema.shape) {
      case Shape::kAny:
      case Shape::kDeduced:
        break;
      case Shape::kScalar:
        scalar(schema, value, path);
        break;
      case Shape::kObject:
        if (!value.is_object()) {
          add(path, fmt::format("expected map, got &{{{}}}", encode_json(value)));
          break;
        }
        for (const auto& [name, element] : value.as_object()) {
          const std::string here = fmt::format("{}.{}", path, name.view());
          if (const SchemaNode* known = schema.member(name.view())) {
            visit(*known, element, here);
          } else {
            add(here, "field not declared in schema");
          }
        }
        break;
      case Shape::kList:
        list(schema, value, path);
        break;
    }
  }

 private:
  void add(const std::string& path, std::string_view text) {
    errors.push_back(path.empty() ? std::string{text} : fmt::format("{}: {}", path, text));
  }

  void scalar(const SchemaNode& schema, const Value& value, const std::string& path) {
    const bool is_number =
        value.kind() == Value::Kind::kInteger || value.kind() == Value::Kind::kDouble;
    const bool is_bool = value.kind() == Value::Kind::kBool;
    switch (schema.scalar) {
      case SchemaNode::Scalar::kNumber:
        if (!is_number) {
          add(path, fmt::format("expected numeric (int or float), got {}",
                                value.is_string()  ? "string"
                                : is_bool          ? "bool"
                                : value.is_array() ? "[]interface {}"
                                                   : "map[string]interface {}"));
        }
        break;
      case SchemaNode::Scalar::kString:
        if (!value.is_string()) {
          add(path, fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                                encode_json(value)));
        }
        break;
      case SchemaNode::Scalar::kBoolean:
        if (!is_bool) add(path, fmt::format("expected boolean, got &{{{}}}", encode_json(value)));
        break;
      case SchemaNode::Scalar::kAny:
        if (value.is_array() || value.is_object()) {
          add(path, fmt::format("expected any scalar, got &{{{}}}", encode_json(value)));
        }
        break;
    }
  }

  void list(const SchemaNode& schema, const Value& value, const std::string& path) {
    if (!value.is_array()) {
      add(path, fmt::format("expected list, got &{{{}}}", encode_json(value)));
      return;
    }
    const bool atomic = schema.list_type == SchemaNode::ListType::kAtomic;
    std::unordered_map<std::string, bool> seen;
    std::size_t i = 0;
    for (const Value& element : value.as_array()) {
      std::string here = fmt::format("{}[{}]", path, i);
      if (!atomic) {
        std::string why;
        const auto step = element_step(schema, element, &why);
        if (!step) {
          add(path, fmt::format("element {}: {}", i, why));
          return;
        }
        here = path + step_text(*step);
        if (!seen.emplace(*step, true).second) {
          add(path, fmt::format("duplicate entries for key {}", step_text(*step)));
        }
      }
      visit(element_schema(schema), element, here);
      ++i;
    }
  }
};

}  // namespace

std::vector<std::string> validate_typed(const SchemaNode& schema, const Value& value) {
  Validator validator;
  validator.visit(schema, value, {});
  return std::move(validator.errors);
}

}  // namespace kube::testkit::detail
