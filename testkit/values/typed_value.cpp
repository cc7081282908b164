// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/typed_value.hpp"

#include "testkit/values/schema_view.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

Value remove_typed(const SchemaNode& schema, Value value, const FieldSet& doomed) {
  const SchemaView view = view_of(schema, &value);
  if (view == SchemaView::kObject && value.is_object()) {
    Value result = Value::object();
    for (auto&& [name, element] : members(value)) {
      const FieldSet* below = doomed.child(field_step(name.view()));
      if (below != nullptr && below->is_member) continue;
      if (below == nullptr || below->empty()) {
        result[name.view()] = std::move(element);
        continue;
      }
      const bool had_some = element.size() > 0;
      Value rest = remove_typed(member_schema(schema, name.view()), std::move(element), *below);
      if (!had_some || rest.size() > 0) result[name.view()] = std::move(rest);
    }
    return result;
  }
  if (view == SchemaView::kList && value.is_array()) {
    Value result = Value::array();
    for (Value& element : elements(value)) {
      const auto step = element_step(schema, element, nullptr);
      const FieldSet* below = step ? doomed.child(*step) : nullptr;
      if (below != nullptr && below->is_member) continue;
      result.push_back(below == nullptr || below->empty()
                           ? std::move(element)
                           : remove_typed(element_schema(schema), std::move(element), *below));
    }
    return result;
  }
  return value;
}

FieldSet with_named_fields(const SchemaNode& schema, FieldSet set) {
  for (auto& [step, child] : set.children) {
    const bool is_field = step.starts_with("f:");
    const std::string_view name = std::string_view{step}.substr(2);
    if (is_field && !child.children.empty() && schema.field(name) != nullptr)
      child.is_member = true;
    if (is_field || step.starts_with("k:")) {
      child = with_named_fields(is_field ? member_schema(schema, name) : element_schema(schema),
                                std::move(child));
    }
  }
  return set;
}

void fill_zero_values(const SchemaNode& schema, Value& value) {
  if (schema.shape == SchemaNode::Shape::kList && value.is_array()) {
    for (Value& element : elements(value)) fill_zero_values(element_schema(schema), element);
  }
  if (schema.shape != SchemaNode::Shape::kObject || !value.is_object()) return;
  for (auto&& [name, element] : members(value))
    fill_zero_values(member_schema(schema, name.view()), element);
  for (const auto& [name, field] : schema.fields) {
    if (!field.zero_value.is_absent() && member(value, name) == nullptr)
      value[name] = field.zero_value;
  }
}

}  // namespace kube::testkit::detail
