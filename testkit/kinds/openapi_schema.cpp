// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/openapi_schema.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kube::testkit::detail {

namespace {

/// Converts "k8s.io/api/core/v1" to "io.k8s.api.core.v1.".
std::string reversed_package(std::string_view go_package) {
  const std::size_t slash = go_package.find('/');
  std::string result;
  std::string_view domain = go_package.substr(0, slash);
  while (!domain.empty()) {
    const std::size_t dot = domain.rfind('.');
    result += fmt::format("{}.", domain.substr(dot == std::string_view::npos ? 0 : dot + 1));
    domain = dot == std::string_view::npos ? std::string_view{} : domain.substr(0, dot);
  }
  if (slash != std::string_view::npos) {
    std::string path{go_package.substr(slash + 1)};
    std::ranges::replace(path, '/', '.');
    result += path + '.';
  }
  return result;
}

Value kind_extension(std::string_view group, std::string_view version, std::string_view kind) {
  return Value::array({Value::object({{"group", group}, {"kind", kind}, {"version", version}})});
}

Value typed(std::string_view type, std::string_view format = {}) {
  Value schema = Value::object({{"type", type}});
  if (!format.empty()) schema["format"] = format;
  return schema;
}

struct Leaf {
  const char* type;
  const char* name;  ///< of its schema; null if it is written inline
};

}  // namespace

OpenApiSchemas::OpenApiSchemas(OpenApiVersion version) : version_(version) {
  for (const Value& group : builtin_facts()["groups"].as_array()) {
    const std::string key =
        fmt::format("{}/{}", text_member(group, "name"), text_member(group, "version"));
    groups_[key] = {reversed_package(text_member(group, "go_package")),
                    std::string{text_member(group, "group")},
                    std::string{text_member(group, "version")}};
    for (const Value& type : group["types"].as_array()) {
      types_[fmt::format("{}.{}", key, text_member(type, "name"))] = &type;
    }
  }
}

Value OpenApiSchemas::reference_to(const std::string& name) const {
  const std::string_view prefix =
      version_ == OpenApiVersion::kV3 ? "#/components/schemas/" : "#/definitions/";
  return Value::object({{"$ref", fmt::format("{}{}", prefix, name)}});
}

std::string OpenApiSchemas::schema_name(std::string_view type) const {
  const std::size_t dot = type.rfind('.');
  return groups_.find(type.substr(0, dot))->second.package + std::string{type.substr(dot + 1)};
}

Value OpenApiSchemas::reference(std::string_view type) {
  add_type(type);
  return reference_to(schema_name(type));
}

Value OpenApiSchemas::list_reference(std::string_view type, std::string_view list_kind) {
  const Group& group = groups_.find(type.substr(0, type.rfind('.')))->second;
  const std::string name = group.package + std::string{list_kind};
  add_list(name, reference(type), group.group, group.version, list_kind);
  return reference_to(name);
}

void OpenApiSchemas::add_list(const std::string& name, Value item, std::string_view group,
                              std::string_view version, std::string_view list_kind) {
  if (made_.contains(name)) return;
  Value schema = typed("object");
  Value& properties = schema["properties"] = Value::object();
  properties["apiVersion"] = typed("string");
  properties["items"] = Value::object({{"items", std::move(item)}, {"type", "array"}});
  properties["kind"] = typed("string");
  properties["metadata"] = reference("meta/v1.ListMeta");
  schema["required"] = Value::array({"items"});
  schema["x-kubernetes-group-version-kind"] = kind_extension(group, version, list_kind);
  made_.emplace(name, std::move(schema));
}

void OpenApiSchemas::add_type(std::string_view type) {
  const std::string name = schema_name(type);
  if (!made_.emplace(name, Value::object()).second)
    return;  // before its fields, because types may be recursive
  const Value& fact = *types_.find(type)->second;
  Value schema = Value::object();
  if (text_member(fact, "json_shape").empty()) {
    schema = typed("object");
    Value required = Value::array();
    if (is_true_member(fact, "type_meta")) {
      schema["properties"]["apiVersion"] = typed("string");
      schema["properties"]["kind"] = typed("string");
      const Group& group = groups_.find(type.substr(0, type.rfind('.')))->second;
      schema["x-kubernetes-group-version-kind"] =
          kind_extension(group.group, group.version, text_member(fact, "name"));
    }
    add_fields(schema, required, fact);
    if (required.size() > 0) schema["required"] = std::move(required);
    if (text_member(fact, "struct_type") == "atomic") schema["x-kubernetes-map-type"] = "atomic";
  } else if (text_member(fact, "json_shape") == "group_version_string") {
    schema = typed("string");
  }
  made_[name] = std::move(schema);
}

void OpenApiSchemas::add_fields(Value& schema, Value& required, const Value& type) {
  for (const Value& fact : type["fields"].as_array()) {
    if (member(fact, "inline") != nullptr) {
      std::string_view inner = text_member(fact, "type");
      if (inner.starts_with('*')) inner.remove_prefix(1);
      add_fields(schema, required, *types_.find(inner)->second);
      continue;
    }
    const std::string_view name = text_member(fact, "json");
    schema["properties"][name] = field_schema(fact);
    if (is_true_member(fact, "required")) required.push_back(name);
  }
}

Value OpenApiSchemas::field_schema(const Value& fact) {
  Value schema = type_schema(text_member(fact, "type"));
  Value extras = Value::object();
  for (const auto& [name, key] :
       {std::pair{"default", "default"}, std::pair{"list_map_keys", "x-kubernetes-list-map-keys"},
        std::pair{"list_type", "x-kubernetes-list-type"},
        std::pair{"map_type", "x-kubernetes-map-type"},
        std::pair{"struct_type", "x-kubernetes-map-type"},
        std::pair{"patch_merge_key", "x-kubernetes-patch-merge-key"},
        std::pair{"patch_strategy", "x-kubernetes-patch-strategy"}}) {
    if (const Value* value = member(fact, name)) extras[key] = *value;
  }
  if (extras.size() == 0) return schema;
  const Value* target = member(std::as_const(schema), "$ref");
  if (target == nullptr) {
    for (auto&& [key, value] : members(extras)) schema[key.view()] = std::move(value);
    return schema;
  }
  if (version_ == OpenApiVersion::kV3) {  // siblings of $ref are ignored
    extras["allOf"] = Value::array({schema});
  } else {
    extras["$ref"] = *target;
  }
  return extras;
}

Value OpenApiSchemas::type_schema(std::string_view type) {
  if (type.starts_with('*')) return type_schema(type.substr(1));
  if (type.starts_with("[]")) {
    Value schema = typed("array");
    schema["items"] = type_schema(type.substr(2));
    return schema;
  }
  if (type.starts_with("map[string]")) {
    Value schema = typed("object");
    schema["additionalProperties"] = type_schema(type.substr(11));
    return schema;
  }
  if (type.find('/') != std::string_view::npos) return reference(type);
  return leaf(type);
}

Value OpenApiSchemas::leaf(std::string_view type) {
  if (type == "string") return typed("string");
  if (type == "bool") return typed("boolean");
  if (type == "int32" || type == "int64") return typed("integer", type);
  if (type == "float64") return typed("number", "double");
  if (type == "bytes") return typed("string", "byte");
  static constexpr Leaf kNamed[] = {
      {"time", "io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
      {"microtime", "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"},
      {"duration", "io.k8s.apimachinery.pkg.apis.meta.v1.Duration"},
      {"quantity", "io.k8s.apimachinery.pkg.api.resource.Quantity"},
      {"int_or_string", "io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
      {"raw_extension", "io.k8s.apimachinery.pkg.runtime.RawExtension"},
      {"fields_v1", "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"},
      {"json", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"},
  };
  const Leaf* found =
      std::ranges::find_if(kNamed, [&](const Leaf& known) { return known.type == type; });
  Value schema = Value::object();
  const bool v3 = version_ == OpenApiVersion::kV3;
  if (type == "time" || type == "microtime") schema = typed("string", "date-time");
  if (type == "duration") schema = typed("string");
  if (type == "raw_extension" || type == "fields_v1") schema = typed("object");
  if (type == "quantity") {
    schema = v3 ? Value::object({{"oneOf", Value::array({typed("string"), typed("number")})}})
                : typed("string");
  }
  if (type == "int_or_string") {
    schema = v3 ? Value::object({{"format", "int-or-string"},
                                 {"oneOf", Value::array({typed("integer"), typed("string")})}})
                : typed("string", "int-or-string");
  }
  made_.emplace(found->name, std::move(schema));
  return reference_to(found->name);
}

Value OpenApiSchemas::custom_reference(std::string_view group, std::string_view version,
                                       std::string_view kind, const Value& schema) {
  const std::string name = fmt::format("{}{}.{}", reversed_package(group), version, kind);
  const bool is_v2 = version_ == OpenApiVersion::kV2;
  Value made = is_v2 ? custom_schema_v2(schema) : schema;
  if (is_v2 && is_true_member(schema, "x-kubernetes-preserve-unknown-fields")) {
    // Clients would refuse all fields but those that are listed.
    made = typed("object");
  } else {
    if (!made.is_object()) made = Value::object();
    made["type"] = "object";
    Value& properties = made["properties"];
    if (!properties.is_object()) properties = Value::object();
    properties["apiVersion"] = typed("string");
    properties["kind"] = typed("string");
    properties["metadata"] = reference("meta/v1.ObjectMeta");
  }
  made["x-kubernetes-group-version-kind"] = kind_extension(group, version, kind);
  made_.insert_or_assign(name, std::move(made));
  return reference_to(name);
}

Value OpenApiSchemas::custom_list_reference(std::string_view group, std::string_view version,
                                            std::string_view kind, std::string_view list_kind) {
  const std::string package = fmt::format("{}{}.", reversed_package(group), version);
  add_list(package + std::string{list_kind}, reference_to(package + std::string{kind}), group,
           version, list_kind);
  return reference_to(package + std::string{list_kind});
}

Value OpenApiSchemas::all() {
  Value schemas = Value::object();
  for (const auto& [name, schema] : made_) schemas[name] = schema;
  return schemas;
}

Value custom_schema_v2(const Value& schema) {
  Value result = Value::object();
  // Version 2 has neither null nor alternatives; its clients accept anything for a schema without
  // type.
  const bool anything = is_true_member(schema, "nullable") ||
                        is_true_member(schema, "x-kubernetes-preserve-unknown-fields") ||
                        is_true_member(schema, "x-kubernetes-int-or-string");
  static constexpr const char* kKept[] = {"default",
                                          "description",
                                          "enum",
                                          "exclusiveMaximum",
                                          "exclusiveMinimum",
                                          "format",
                                          "maxItems",
                                          "maxLength",
                                          "maxProperties",
                                          "maximum",
                                          "minItems",
                                          "minLength",
                                          "minProperties",
                                          "minimum",
                                          "multipleOf",
                                          "pattern",
                                          "required",
                                          "title",
                                          "type",
                                          "x-kubernetes-embedded-resource",
                                          "x-kubernetes-int-or-string",
                                          "x-kubernetes-list-map-keys",
                                          "x-kubernetes-list-type",
                                          "x-kubernetes-map-type",
                                          "x-kubernetes-preserve-unknown-fields"};
  for (const char* key : kKept) {
    const bool structural = std::string_view{key} == "type" || std::string_view{key} == "required";
    const Value* value = member(schema, key);
    if (value != nullptr && !(anything && structural)) result[key] = *value;
  }
  if (anything) return result;
  if (schema["items"].is_object()) result["items"] = custom_schema_v2(schema["items"]);
  if (schema["additionalProperties"].is_object()) {
    result["additionalProperties"] = custom_schema_v2(schema["additionalProperties"]);
  }
  if (schema["properties"].is_object()) {
    Value& properties = result["properties"] = Value::object();
    for (const auto& [name, property] : schema["properties"].as_object()) {
      properties[name.view()] = custom_schema_v2(property);
    }
  }
  return result;
}

}  // namespace kube::testkit::detail
