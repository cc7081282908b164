// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/schema_type.hpp"

#include "testkit/values/value_edit.hpp"

#include <string>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::is_true_member;
using detail::text_member;

TypePtr simple(TypeKind kind) { return simple_type(kind); }

TypePtr nested(const Value& schema, const std::string& name) {
  return type_of_schema(schema, is_true_member(schema, "x-kubernetes-embedded-resource"), name);
}

TypePtr text_type(std::string_view format) {
  if (format == "byte") return simple(TypeKind::kBytes);
  if (format == "duration") return simple(TypeKind::kDuration);
  if (format == "date" || format == "date-time") return simple(TypeKind::kTimestamp);
  return simple(TypeKind::kString);
}

TypePtr array_type(const Value& schema, std::string_view name) {
  const Value& items = schema["items"];
  if (!items.is_object()) return nullptr;
  TypePtr element = nested(items, std::string{name} + ".@idx");
  if (element == nullptr) return nullptr;
  Type type;
  type.kind = TypeKind::kList;
  type.parameters = {std::move(element)};
  const std::string_view list_type = text_member(schema, "x-kubernetes-list-type");
  if (list_type == "set") type.list_kind = ListKind::kSet;
  if (list_type == "map") {
    type.list_kind = ListKind::kMap;
    for (const Value& key : schema.get_array("x-kubernetes-list-map-keys")) {
      if (key.is_string()) type.list_keys.emplace_back(key.as_string());
    }
  }
  return std::make_shared<const Type>(std::move(type));
}

void add_field(Type& type, std::string_view property, TypePtr field) {
  const std::string name = escape_property(property);
  if (field == nullptr || name.empty()) return;
  type.fields.insert_or_assign(name, Type::Field{std::move(field), std::string{property}});
}

/// Adds the fields that every resource has in addition to its schema.
void add_resource_fields(Type& type, std::string_view name) {
  add_field(type, "apiVersion", simple(TypeKind::kString));
  add_field(type, "kind", simple(TypeKind::kString));
  // A schema may restrict only these two fields of metadata.
  Type metadata;
  metadata.kind = TypeKind::kObject;
  metadata.name = std::string{name} + ".metadata";
  add_field(metadata, "name", simple(TypeKind::kString));
  add_field(metadata, "generateName", simple(TypeKind::kString));
  add_field(type, "metadata", std::make_shared<const Type>(std::move(metadata)));
}

TypePtr object_type(const Value& schema, bool is_resource_root, std::string_view name) {
  if (schema["additionalProperties"].is_object()) {
    TypePtr value = nested(schema["additionalProperties"], std::string{name} + ".@elem");
    if (value == nullptr) return nullptr;
    return map_type(simple(TypeKind::kString), std::move(value));
  }
  Type type;
  type.kind = TypeKind::kObject;
  type.name = name;
  if (schema["properties"].is_object()) {
    for (const auto& [property, inner] : schema["properties"].as_object()) {
      add_field(type, property.view(),
                nested(inner, std::string{name} + '.' + std::string{property.view()}));
    }
  }
  if (is_resource_root) add_resource_fields(type, name);
  return std::make_shared<const Type>(std::move(type));
}

}  // namespace

TypePtr type_of_schema(const Value& schema, bool is_resource_root, std::string_view name) {
  if (is_true_member(schema, "x-kubernetes-int-or-string")) return simple(TypeKind::kDyn);
  const std::string_view type = text_member(schema, "type");
  if (type == "array") return array_type(schema, name);
  if (type == "object") return object_type(schema, is_resource_root, name);
  if (type == "string") return text_type(text_member(schema, "format"));
  if (type == "boolean") return simple(TypeKind::kBool);
  if (type == "number") return simple(TypeKind::kDouble);
  if (type == "integer") return simple(TypeKind::kInt);
  return nullptr;
}

}  // namespace kube::testkit::cel
