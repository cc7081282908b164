// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/rules.hpp"
#include "testkit/validation/string_formats.hpp"
#include "testkit/values/structural_validate.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace kube::testkit::detail {

namespace {

enum class Level { kRoot, kItem, kField };

bool has_members(const Value& schema, std::string_view key) {
  const Value* value = member(schema, key);
  return value != nullptr && value->size() > 0;
}

bool has(const Value& schema, std::string_view key) {
  const Value* value = member(schema, key);
  return value != nullptr && !value->is_null();
}

std::string child(std::string_view path, std::string_view name) {
  return path.empty() ? std::string{name} : fmt::format("{}.{}", path, name);
}
std::string property(std::string_view path, std::string_view name) {
  return fmt::format("{}[{}]", child(path, "properties"), name);
}
std::string nth(std::string_view path, std::string_view name, std::size_t i) {
  return fmt::format("{}[{}]", child(path, name), i);
}

constexpr std::array kJunctors{"allOf", "anyOf", "oneOf"};

/// Throws ValueError if a keyword does not have the type that the rest of this file assumes.
void check_types(const Value& schema) {
  for (const auto& [name, property] : schema.get_object("properties")) {
    static_cast<void>(property.as_object());
  }
  for (const char* junctor : kJunctors) {
    for (const Value& part : schema.get_array(junctor)) static_cast<void>(part.as_object());
  }
  static_cast<void>(schema.get_array("enum"));
  for (const char* names : {"required", "x-kubernetes-list-map-keys"}) {
    for (const Value& name : schema.get_array(names)) static_cast<void>(name.as_string());
  }
}

/// Recognises the anyOf of exactly integer and string, the only place where `type` is allowed
/// inside a junctor (allOf, anyOf, oneOf, not).
bool is_int_or_string_any_of(const Value& schema) {
  const Value& any_of = schema["anyOf"];
  return any_of.size() == 2 && any_of[0].size() == 1 &&
         text_member(any_of[0], "type") == "integer" && any_of[1].size() == 1 &&
         text_member(any_of[1], "type") == "string";
}

class Checker {
 public:
  std::vector<FieldError> errors;

  void structural(const Value& schema, Level level, const std::string& path, bool in_meta) {
    keywords(schema, path, level == Level::kRoot, in_meta);
    const std::string_view type = text_member(schema, "type");
    if (type == "array" && !has(schema, "items")) {
      add(required_value(child(path, "items"), "must be specified"));
    }
    if (schema["items"].is_object()) {
      structural(schema["items"], Level::kItem, child(path, "items"), in_meta);
    }
    const bool is_resource =
        level == Level::kRoot || is_true_member(schema, "x-kubernetes-embedded-resource");
    for (const auto& [name, property_schema] : schema.get_object("properties")) {
      const bool meta =
          is_resource && (name == "metadata" || name == "apiVersion" || name == "kind");
      structural(property_schema, Level::kField, property(path, name.view()), in_meta || meta);
    }
    if (has(schema, "additionalProperties")) {
      if (level == Level::kRoot) {
        add(forbidden_value(child(path, "additionalProperties"), "must not be used at the root"));
      }
      if (schema["additionalProperties"].is_object()) {
        structural(schema["additionalProperties"], Level::kField,
                   child(path, "additionalProperties"), in_meta);
      }
    }
    extensions(schema, path, type);
    types(schema, level, path, type);
    resource_fields(schema, level, path, is_resource);
    junctors(schema, path, true);
    if (level == Level::kRoot) completeness(schema, schema, path, path);
  }

 private:
  void add(FieldError error) { errors.push_back(std::move(error)); }

  /// Reports keywords that are forbidden everywhere, inside and outside junctors.
  void keywords(const Value& schema, const std::string& path, bool is_root, bool in_meta) {
    check_types(schema);
    for (const char* name :
         {"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      const Value* value = member(schema, name);
      if (value == nullptr || value->is_null()) continue;
      if (value->is_string() ? !value->as_string().empty()
                             : value->size() > 0 || std::string_view{name} == "dependencies" ||
                                   std::string_view{name} == "additionalItems") {
        add(forbidden_value(child(path, name), fmt::format("{} is not supported", name)));
      }
    }
    const std::string_view type = text_member(schema, "type");
    static const std::vector<std::string> kTypes{"array",  "boolean", "integer",
                                                 "number", "object",  "string"};
    if (type == "null") {
      add(forbidden_value(child(path, "type"),
                          "type cannot be set to null, use nullable as an alternative"));
    }
    if (!type.empty() && std::ranges::find(kTypes, type) == kTypes.end()) {
      add(not_supported(child(path, "type"), type, kTypes));
    }
    if (schema["items"].is_array()) {
      add(forbidden_value(child(path, "items"), "items must be a schema object and not an array"));
    }
    if (is_true_member(schema, "uniqueItems")) {
      add(forbidden_value(child(path, "uniqueItems"),
                          "uniqueItems cannot be set to true since the runtime complexity becomes "
                          "quadratic"));
    }
    const Value* additional = member(schema, "additionalProperties");
    if (additional != nullptr && has_members(schema, "properties") &&
        (additional->is_object() || !is_true_member(schema, "additionalProperties"))) {
      add(forbidden_value(child(path, "additionalProperties"),
                          "additionalProperties and properties are mutual exclusive"));
    }
    if (in_meta && is_true_member(schema, "x-kubernetes-embedded-resource")) {
      add(forbidden_value(child(path, "x-kubernetes-embedded-resource"),
                          "must not be used inside of resource meta"));
    }
    if (is_root && has(schema, "default")) {
      add(forbidden_value(child(path, "default"), "must not be set"));
    }
    if (const std::string_view pattern = text_member(schema, "pattern"); !pattern.empty()) {
      try {
        static_cast<void>(Pattern{pattern});
      } catch (const std::invalid_argument& error) {
        add(invalid_value(
            child(path, "pattern"), pattern,
            fmt::format("must be a valid regular expression, but isn't: {}", error.what())));
      }
    }
  }

  void types(const Value& schema, Level level, const std::string& path, std::string_view type) {
    const std::string where = child(path, "type");
    const bool embedded = is_true_member(schema, "x-kubernetes-embedded-resource");
    if (embedded && type != "object") {
      constexpr std::string_view kWhy = "must be object if x-kubernetes-embedded-resource is true";
      add(type.empty() ? required_value(where, kWhy) : invalid_value(where, type, kWhy));
    } else if (type.empty() && !is_true_member(schema, "x-kubernetes-int-or-string") &&
               !is_true_member(schema, "x-kubernetes-preserve-unknown-fields")) {
      add(required_value(where, level == Level::kRoot ? "must not be empty at the root"
                                : level == Level::kItem
                                    ? "must not be empty for specified array items"
                                    : "must not be empty for specified object fields"));
    }
    if (level == Level::kRoot && !type.empty() && type != "object") {
      add(invalid_value(where, type, "must be object at the root"));
    }
    if (embedded && has(schema, "additionalProperties")) {
      add(forbidden_value(child(path, "additionalProperties"),
                          "must not be used if x-kubernetes-embedded-resource is set"));
    }
    if (embedded && !is_true_member(schema, "x-kubernetes-preserve-unknown-fields") &&
        !has_members(schema, "properties")) {
      add(required_value(child(path, "properties"),
                         "must not be empty if x-kubernetes-embedded-resource is true without "
                         "x-kubernetes-preserve-unknown-fields"));
    }
  }

  void extensions(const Value& schema, const std::string& path, std::string_view type) {
    if (is_true_member(schema, "x-kubernetes-int-or-string")) {
      for (const char* other :
           {"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"}) {
        if (is_true_member(schema, other)) {
          add(invalid_value(child(path, other), true,
                            "must be false if x-kubernetes-int-or-string is true"));
        }
      }
    }
    if (const Value* preserve = member(schema, "x-kubernetes-preserve-unknown-fields");
        preserve != nullptr && preserve->kind() == Value::Kind::kBool && !preserve->as_bool()) {
      add(invalid_value(child(path, "x-kubernetes-preserve-unknown-fields"), false,
                        "must be true or undefined"));
    }
    one_of(schema, path, "x-kubernetes-map-type", type, "object", {"atomic", "granular"});
    one_of(schema, path, "x-kubernetes-list-type", type, "array", {"atomic", "set", "map"});
    list_type(schema, path);
  }

  /// Checks that the schema has type `wanted` and that the value of `extension` is one of
  /// `allowed`.
  void one_of(const Value& schema, const std::string& path, std::string_view extension,
              std::string_view type, std::string_view wanted,
              const std::vector<std::string>& allowed) {
    if (!has(schema, extension)) return;
    if (type != wanted) {
      const std::string why = fmt::format("must be {} if {} is specified", wanted, extension);
      add(type.empty() ? required_value(child(path, "type"), why)
                       : invalid_value(child(path, "type"), type, why));
    }
    if (std::ranges::find(allowed, text_member(schema, extension)) == allowed.end()) {
      add(not_supported(child(path, extension), schema[extension], allowed));
    }
  }

  void list_type(const Value& schema, const std::string& path) {
    const std::string_view list_type = text_member(schema, "x-kubernetes-list-type");
    const Value& items = schema["items"];
    const Value& keys = schema["x-kubernetes-list-map-keys"];
    const std::string type_path = child(path, "x-kubernetes-list-type");
    const std::string keys_path = child(path, "x-kubernetes-list-map-keys");
    if (keys.size() > 0 && list_type != "map") {
      constexpr std::string_view kWhy = "must be map if x-kubernetes-list-map-keys is non-empty";
      add(list_type.empty() ? required_value(type_path, kWhy)
                            : invalid_value(type_path, list_type, kWhy));
    }
    const std::string items_path = child(path, "items");
    if (list_type == "set" && items.is_object()) {
      const std::string_view item_type = text_member(items, "type");
      const bool array = item_type == "array";
      const std::string_view extension = array ? "x-kubernetes-list-type" : "x-kubernetes-map-type";
      const std::string_view value = text_member(items, extension);
      if ((array && !value.empty() && value != "atomic") ||
          (item_type == "object" && value != "atomic")) {
        add(invalid_value(child(items_path, extension),
                          value.empty() ? Value{nullptr} : Value{value},
                          "must be atomic as item of a list with x-kubernetes-list-type=set"));
      }
    }
    if ((list_type == "set" || list_type == "map") && is_true_member(items, "nullable")) {
      add(forbidden_value(
          child(items_path, "nullable"),
          fmt::format("cannot be nullable when x-kubernetes-list-type is {}", list_type)));
    }
    if (list_type == "map") list_map(items, keys, items_path, keys_path);
  }

  void list_map(const Value& items, const Value& keys, const std::string& items_path,
                const std::string& keys_path) {
    if (keys.size() == 0) {
      add(required_value(keys_path, "must not be empty if x-kubernetes-list-type is map"));
    }
    if (!items.is_object()) {
      add(required_value(items_path, "must have a schema if x-kubernetes-list-type is map"));
      return;
    }
    const std::string_view item_type = text_member(items, "type");
    if (item_type != "object") {
      add(invalid_value(child(items_path, "type"), item_type,
                        "must be object if parent array's x-kubernetes-list-type is map"));
      return;
    }
    if (!keys.is_array()) return;
    std::set<std::string_view> seen;
    for (const Value& key : keys.as_array()) {
      if (!key.is_string()) continue;
      const std::string_view name = key.as_string();
      if (!seen.insert(name).second) {
        add(invalid_value(keys_path, keys, "must not contain duplicate entries"));
      }
      const Value* schema = member(items["properties"], name);
      if (schema == nullptr) {
        add(invalid_value(keys_path, keys, "entries must all be names of item properties"));
        continue;
      }
      const std::string where = property(items_path, name);
      const std::string_view type = text_member(*schema, "type");
      if (type == "array" || type == "object") {
        add(invalid_value(child(where, "type"), type,
                          "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      const auto& required = items.get_array("required");
      const bool is_required = std::ranges::any_of(
          required, [&](const Value& one) { return one.is_string() && one.as_string() == name; });
      if (!is_required && !has(*schema, "default")) {
        add(required_value(
            child(where, "default"),
            "this property is in x-kubernetes-list-map-keys, so it must have a default "
            "or be a required property"));
      }
      if (is_true_member(*schema, "nullable")) {
        add(forbidden_value(
            child(where, "nullable"),
            "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
      }
    }
  }

  void resource_fields(const Value& schema, Level level, const std::string& path,
                       bool is_resource) {
    if (!is_resource) return;
    for (const char* name : {"apiVersion", "kind", "metadata"}) {
      const Value* found = member(schema["properties"], name);
      if (found == nullptr) continue;
      const bool is_meta = std::string_view{name} == "metadata";
      const std::string_view wanted = is_meta ? "object" : "string";
      const std::string_view type = text_member(*found, "type");
      const std::string where = property(path, name);
      if (type != wanted) {
        add(invalid_value(child(where, "type"), type, fmt::format("must be {}", wanted)));
      }
      if (is_meta && level == Level::kRoot && !is_plain_metadata(*found)) {
        add(forbidden_value(
            where,
            "must not specify anything other than name and generateName, but metadata "
            "is implicitly specified"));
      }
    }
  }

  static bool is_plain_metadata(const Value& schema) {
    return std::ranges::all_of(schema.as_object(), [](const auto& entry) {
      const auto& [key, value] = entry;
      if (key == "properties") {
        return std::ranges::all_of(value.as_object(), [](const auto& field) {
          return field.key() == "name" || field.key() == "generateName";
        });
      }
      return key == "type" || value.is_null();
    });
  }

  void junctors(const Value& schema, const std::string& path, bool at_schema) {
    const bool skip_any_of = at_schema && is_int_or_string_any_of(schema);
    for (const char* name : kJunctors) {
      if (skip_any_of && std::string_view{name} == "anyOf") continue;
      if (!schema[name].is_array()) continue;
      std::size_t i = 0;
      for (const Value& part : schema[name].as_array()) {
        const bool skip = std::string_view{name} == "allOf" && i == 0 && at_schema &&
                          is_int_or_string_any_of(part);
        nested(part, nth(path, name, i++), skip);
      }
    }
    if (schema["not"].is_object()) nested(schema["not"], child(path, "not"), false);
  }

  /// Checks a schema under a junctor, which may only add value validations.
  void nested(const Value& schema, const std::string& path, bool skip_any_of) {
    keywords(schema, path, false, false);
    struct Rule {
      const char* name;
      const char* why;
    };
    static constexpr std::array kRules{
        Rule{"type", "must be empty to be structural"},
        Rule{"additionalProperties", "must be undefined to be structural"},
        Rule{"default", "must be undefined to be structural"},
        Rule{"title", "must be empty to be structural"},
        Rule{"description", "must be empty to be structural"},
        Rule{"nullable", "must be false to be structural"},
        Rule{"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
        Rule{"x-kubernetes-embedded-resource", "must be false to be structural"},
        Rule{"x-kubernetes-int-or-string", "must be false to be structural"},
        Rule{"x-kubernetes-list-map-keys", "must be empty to be structural"},
        Rule{"x-kubernetes-list-type", "must be undefined to be structural"},
        Rule{"x-kubernetes-map-type", "must be undefined to be structural"},
        Rule{"x-kubernetes-validations", "must be empty to be structural"}};
    for (const Rule& rule : kRules) {
      const Value* value = member(schema, rule.name);
      if (value == nullptr || value->is_null()) continue;
      if (value->kind() == Value::Kind::kBool && !value->as_bool()) continue;
      if (value->is_string() && value->as_string().empty()) continue;
      if (value->is_array() && value->size() == 0) continue;
      add(forbidden_value(child(path, rule.name), rule.why));
    }
    if (schema["items"].is_object()) nested(schema["items"], child(path, "items"), false);
    for (const auto& [name, part] : schema.get_object("properties")) {
      nested(part, property(path, name.view()), false);
    }
    if (member(schema["properties"], "metadata") != nullptr) {
      add(forbidden_value(property(path, "metadata"), "must not be specified in a nested context"));
    }
    if (!skip_any_of) {
      junctors(schema, path, false);
      return;
    }
    Value rest = schema;
    rest.erase("anyOf");
    junctors(rest, path, false);
  }

  /// Checks that fields and items mentioned inside a junctor are also specified outside of it.
  void completeness(const Value& part, const Value& schema, const std::string& part_path,
                    const std::string& schema_path) {
    for (const char* name : kJunctors) {
      if (!part[name].is_array()) continue;
      std::size_t i = 0;
      for (const Value& nested_part : part[name].as_array()) {
        nested_completeness(nested_part, &schema, nth(part_path, name, i++), schema_path);
      }
    }
    if (part["not"].is_object()) {
      nested_completeness(part["not"], &schema, child(part_path, "not"), schema_path);
    }
  }

  void nested_completeness(const Value& part, const Value* schema, const std::string& part_path,
                           const std::string& schema_path) {
    if (schema == nullptr) {
      add(required_value(schema_path, fmt::format("because it is defined in {}", part_path)));
      return;
    }
    completeness(part, *schema, part_path, schema_path);
    if (part["items"].is_object()) {
      const Value& items = (*schema)["items"];
      nested_completeness(part["items"], items.is_object() ? &items : nullptr,
                          child(part_path, "items"), child(schema_path, "items"));
    }
    for (const auto& [name, field] : part.get_object("properties")) {
      nested_completeness(field, member((*schema)["properties"], name.view()),
                          property(part_path, name.view()), property(schema_path, name.view()));
    }
  }
};

}  // namespace

std::vector<FieldError> check_structural(const Value& schema, std::string_view field,
                                         cel::CostLimits limits) {
  Checker checker;
  if (!schema.is_object()) {
    return {required_value(child(field, "type"), "must not be empty at the root")};
  }
  try {
    checker.structural(schema, Level::kRoot, std::string{field}, false);
  } catch (const ValueError& error) {  // a keyword has the wrong type
    return {invalid_value(field, schema, error.what())};
  }
  if (!checker.errors.empty()) return std::move(checker.errors);
  if (auto errors = check_defaults(schema, field); !errors.empty()) return errors;
  // Rules that cannot be evaluated are reported only if there are no other errors.
  std::vector<cel::MissingRule> missing;
  return cel::check_rules(schema, field, limits, missing);
}

}  // namespace kube::testkit::detail
