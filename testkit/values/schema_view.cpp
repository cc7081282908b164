// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/schema_view.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

SchemaView view_of(const SchemaNode& schema, const Value* value) {
  using Shape = SchemaNode::Shape;
  switch (schema.shape) {
    case Shape::kDeduced:
      return value != nullptr && value->is_object() ? SchemaView::kObject : SchemaView::kLeaf;
    case Shape::kObject:
      return schema.atomic ? SchemaView::kLeaf : SchemaView::kObject;
    case Shape::kList:
      return schema.list_type == SchemaNode::ListType::kAtomic ? SchemaView::kLeaf
                                                               : SchemaView::kList;
    case Shape::kAny:
    case Shape::kScalar:
      break;
  }
  return SchemaView::kLeaf;
}

const SchemaNode& member_schema(const SchemaNode& schema, std::string_view name) {
  const SchemaNode* found = schema.member(name);
  return found == nullptr ? any_schema() : *found;
}

const SchemaNode& element_schema(const SchemaNode& schema) {
  return schema.element == nullptr ? any_schema() : *schema.element;
}

std::string field_step(std::string_view name) { return fmt::format("f:{}", name); }

std::optional<std::string> element_step(const SchemaNode& list, const Value& element,
                                        std::string* why) {
  const auto refuse = [&](std::string text) -> std::optional<std::string> {
    if (why != nullptr) *why = std::move(text);
    return std::nullopt;
  };
  if (list.list_type == SchemaNode::ListType::kSet) {
    if (element.is_object())
      return refuse("associative list without keys has an element that's a map type");
    if (element.is_array()) return refuse("not supported: associative list with lists as elements");
    if (element.is_null())
      return refuse("associative list without keys has an element that's an explicit null");
    return "v:" + encode_json(element);
  }
  if (element.is_null()) return refuse("associative list with keys may not have a null element");
  if (!element.is_object())
    return refuse("associative list with keys may not have non-map elements");
  Value keys = Value::object();
  for (const std::string& name : list.list_keys) {
    if (const Value* value = member(element, name)) {
      keys[name] = *value;
    } else if (const SchemaField* field = element_schema(list).field(name);
               field != nullptr && !field->default_value.is_absent()) {
      keys[name] = field->default_value;
    }
  }
  if (keys.size() == 0) {
    std::string names;
    for (const std::string& name : list.list_keys)
      names += (names.empty() ? "" : " ") + quoted_go(name);
    return refuse(
        fmt::format("associative list with keys has an element that omits all key fields [{}] (and "
                    "doesn't have default values for any key fields)",
                    names));
  }
  return "k:" + encode_json(keys);
}

}  // namespace kube::testkit::detail
