// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/structural_schema.hpp"

#include "testkit/cel/rules.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/values/structural_validate.hpp"
#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::testkit::detail {

namespace {

bool is_meta_field(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

const Value& nothing() {
  static const Value kAbsent;
  return kAbsent;
}

/// Returns the schema of a member, or null if the member is unknown. Returns an absent value for
/// additionalProperties of true: any value is allowed, but its own members are unknown.
const Value* member_schema(const Value& schema, std::string_view name) {
  if (const Value* property = member(schema["properties"], name)) return property;
  const Value* additional = member(schema, "additionalProperties");
  if (additional == nullptr || additional->is_null()) return nullptr;
  return additional->is_object() ? additional : &nothing();
}

bool is_forbidden_null(const Value& value, const Value& schema) {
  return value.is_null() && schema.is_object() && !is_true_member(schema, "nullable");
}

/// Converts a structural schema to a SchemaNode for server-side apply.
class Converter {
 public:
  explicit Converter(SchemaNodes& nodes) : nodes_(nodes) {}

  const SchemaNode* convert(const Value& schema, bool is_resource, bool preserve) {
    preserve = preserve || is_true_member(schema, "x-kubernetes-preserve-unknown-fields");
    const std::string_view type = text_member(schema, "type");
    if (is_true_member(schema, "x-kubernetes-int-or-string"))
      return &make(SchemaNode::Shape::kScalar);
    if (type.empty()) return &deduced_schema();
    if (type == "object") return object(schema, is_resource, preserve);
    if (type == "array") return list(schema, preserve);
    SchemaNode& node = make(SchemaNode::Shape::kScalar);
    const std::string_view format = text_member(schema, "format");
    if (type == "boolean") node.scalar = SchemaNode::Scalar::kBoolean;
    if (type == "integer" || type == "number") node.scalar = SchemaNode::Scalar::kNumber;
    if (type == "string" && (format.empty() || format == "byte")) {
      node.scalar = SchemaNode::Scalar::kString;
    }
    return &node;
  }

 private:
  SchemaNode& make(SchemaNode::Shape shape) {
    SchemaNode& node = nodes_.emplace_back();
    node.shape = shape;
    return node;
  }

  const SchemaNode* object(const Value& schema, bool is_resource, bool preserve) {
    SchemaNode& node = make(SchemaNode::Shape::kObject);
    node.atomic = text_member(schema, "x-kubernetes-map-type") == "atomic";
    for (const auto& [name, property] : schema.get_object("properties")) {
      const bool embedded = is_true_member(property, "x-kubernetes-embedded-resource");
      SchemaField field;
      field.node = convert(property, embedded, preserve);
      field.default_value = property["default"];
      node.fields.emplace(name.str(), std::move(field));
    }
    if (is_resource) {
      SchemaNode& text = make(SchemaNode::Shape::kScalar);
      text.scalar = SchemaNode::Scalar::kString;
      node.fields["apiVersion"].node = node.fields["kind"].node = &text;
      node.fields["metadata"].node = &object_meta_schema();
    }
    const Value& additional = schema["additionalProperties"];
    if (additional.is_object()) {
      node.element = convert(additional, false, preserve);
    } else if (additional.kind() == Value::Kind::kBool) {
      node.element = additional.as_bool() ? &deduced_schema() : nullptr;
    } else if (preserve || schema["properties"].size() == 0) {
      node.element = &deduced_schema();
    }
    return &node;
  }

  const SchemaNode* list(const Value& schema, bool preserve) {
    SchemaNode& node = make(SchemaNode::Shape::kList);
    const Value& items = schema["items"];
    const bool embedded = is_true_member(items, "x-kubernetes-embedded-resource");
    node.element = items.is_object() ? convert(items, embedded, preserve) : &any_schema();
    const std::string_view type = text_member(schema, "x-kubernetes-list-type");
    if (type == "set") node.list_type = SchemaNode::ListType::kSet;
    if (type == "map") {
      node.list_type = SchemaNode::ListType::kMap;
      for (const Value& key : schema.get_array("x-kubernetes-list-map-keys")) {
        node.list_keys.emplace_back(key.as_string());
      }
    }
    return &node;
  }

  SchemaNodes& nodes_;
};

void check_defaults_at(const Value& schema, const std::string& path,
                       std::vector<FieldError>& errors) {
  if (const Value* value = member(schema, "default"); value != nullptr && !value->is_null()) {
    const std::string where = path + ".default";
    Value pruned = *value;
    std::vector<std::string> unknown;
    prune_value(schema, pruned, false, {}, unknown);
    if (!unknown.empty()) {
      errors.push_back(invalid_value(where, *value, "must not have unknown fields"));
    } else {
      default_value(schema, pruned);
      validate_value(schema, pruned, nullptr, where, errors);
      validate_list_types(schema, pruned, where, errors);
    }
  }
  for (const auto& [name, property] : schema.get_object("properties")) {
    check_defaults_at(property, fmt::format("{}.properties[{}]", path, name.view()), errors);
  }
  for (const char* name : {"items", "additionalProperties"}) {
    if (schema[name].is_object()) check_defaults_at(schema[name], below(path, name), errors);
  }
}

}  // namespace

void prune_value(const Value& schema, Value& value, bool is_resource, const std::string& path,
                 std::vector<std::string>& removed) {
  const bool preserve = is_true_member(schema, "x-kubernetes-preserve-unknown-fields");
  is_resource = is_resource || is_true_member(schema, "x-kubernetes-embedded-resource");
  if (value.is_array()) {
    std::size_t i = 0;
    const Value& items = schema["items"];
    if (preserve && !items.is_object()) return;
    for (Value& element : elements(value)) {
      prune_value(items, element, false, fmt::format("{}[{}]", path, i++), removed);
    }
    return;
  }
  if (!value.is_object()) return;
  std::size_t gone = 0;
  const auto known = [&](std::string_view name) -> const Value* {
    if (is_resource && is_meta_field(name)) return &nothing();
    const Value* found = member_schema(schema, name);
    return found == nullptr && preserve ? &nothing() : found;
  };
  for (auto&& [name, element] : members(value)) {
    if (is_resource && is_meta_field(name.view())) continue;
    const Value* element_schema = member_schema(schema, name.view());
    if (element_schema != nullptr) {
      prune_value(*element_schema, element, false, below(path, name.view()), removed);
    } else if (!preserve) {
      ++gone;
      if (!path.empty() || !is_meta_field(name.view())) removed.push_back(below(path, name.view()));
    }
  }
  if (gone == 0) return;
  Value kept = Value::object();
  for (auto&& [name, element] : members(value)) {
    if (known(name.view()) != nullptr) kept[name.view()] = std::move(element);
  }
  value = std::move(kept);
}

void default_value(const Value& schema, Value& value) {
  if (value.is_array()) {
    const Value& items = schema["items"];
    for (Value& element : elements(value)) {
      if (is_forbidden_null(element, items) && !items["default"].is_absent())
        element = items["default"];
      default_value(items, element);
    }
    return;
  }
  if (!value.is_object()) return;
  Value result = Value::object();
  // Both are sorted, so this is a merge of two sorted sequences.
  const auto& properties = schema.get_object("properties");
  auto next = properties.begin();
  const auto add_default = [&] {
    const Value& default_of = (*next).value()["default"];
    if (!default_of.is_absent() && !default_of.is_null()) {
      default_value((*next).value(), result[(*next).key().view()] = default_of);
    }
    ++next;
  };
  for (auto&& [name, element] : members(value)) {
    while (next != properties.end() && (*next).key().view() < name.view()) add_default();
    if (next != properties.end() && (*next).key().view() == name.view()) ++next;
    const Value* found = member_schema(schema, name.view());
    if (found != nullptr && is_forbidden_null(element, *found)) {
      const Value& default_of = (*found)["default"];
      if (default_of.is_absent() || default_of.is_null()) continue;
      element = default_of;
    }
    if (found != nullptr) default_value(*found, element);
    result[name.view()] = std::move(element);
  }
  while (next != properties.end()) add_default();
  value = std::move(result);
}

std::vector<FieldError> check_defaults(const Value& schema, std::string_view field) {
  std::vector<FieldError> errors;
  check_defaults_at(schema, std::string{field}, errors);
  return errors;
}

StructuralSchema::StructuralSchema(Value schema)
    : schema_(std::move(schema)), rules_(std::make_shared<const cel::RuleSet>(schema_)) {
  root_ = Converter{nodes_}.convert(schema_, true, false);
}

std::vector<std::string> StructuralSchema::prune(Value& object) const {
  std::vector<std::string> removed;
  prune_value(schema_, object, true, {}, removed);
  std::ranges::sort(removed);
  return removed;
}

void StructuralSchema::apply_defaults(Value& object) const { default_value(schema_, object); }

std::vector<FieldError> StructuralSchema::validate(const Value& object, const Value* old) const {
  std::vector<FieldError> errors;
  validate_value(schema_, object, old, {}, errors);
  std::vector<FieldError> duplicates;
  validate_list_types(schema_, object, {}, duplicates);
  if (!duplicates.empty() && old != nullptr) {
    std::vector<FieldError> before;
    validate_list_types(schema_, *old, {}, before);
    if (!before.empty()) duplicates.clear();
  }
  errors.insert(errors.end(), duplicates.begin(), duplicates.end());
  return errors;
}

}  // namespace kube::testkit::detail
