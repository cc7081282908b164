// SPDX-License-Identifier: Apache-2.0
#include "json_schema.hpp"

#include "text.hpp"
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>

namespace kube::gen {
namespace {

using Kind = Shape::Kind;

constexpr int kMaxDepth = 64;
constexpr std::string_view kMetaHeader = "kube/api/meta/v1.hpp";

bool is_nullable(const Place& schema) { return schema["nullable"].flag(); }

/// Returns the "$ref" of a schema that consists only of one. OpenAPI 3 wraps it in "allOf" to add a
/// default.
Place reference(const Place& schema) {
  if (schema["$ref"].exists()) return schema["$ref"];
  const Place all_of = schema["allOf"];
  if (all_of.exists() && all_of.elements().size() == 1 && !schema["properties"].exists()) {
    return all_of[0]["$ref"];
  }
  return schema["$ref"];
}

/// True if an object may have members that are not in the schema.
bool keeps_unknown(const Place& schema) {
  return schema["x-kubernetes-preserve-unknown-fields"].flag() ||
         schema["x-kubernetes-embedded-resource"].flag();
}

/// Returns the optional form of a type; `shape` itself if it already has an empty value.
Shape optional_of(Shape shape) {
  if (shape.kind == Kind::kStruct) return Shape::of(Kind::kBox, std::move(shape));
  if (shape.is_plain("String")) return Shape::plain("OptionalString");
  const bool is_scalar = shape.is_plain("bool") || shape.is_plain("std::int32_t") ||
                         shape.is_plain("std::int64_t") || shape.is_plain("double");
  return is_scalar ? Shape::plain(fmt::format("std::optional<{}>", shape.name)) : shape;
}

bool is_leaf(const Shape& shape) {
  constexpr std::array kNotLeaves = std::to_array<std::string_view>(
      {"String", "OptionalString", "Bytes", "Value", "bool", "double"});
  return shape.kind == Kind::kPlain && !shape.name.starts_with("std::") &&
         std::ranges::find(kNotLeaves, shape.name) == kNotLeaves.end();
}

/// Determines when a member is omitted from JSON.
void set_omission(Member& member, bool is_required, bool nullable) {
  const Shape& shape = member.shape;
  const bool is_container =
      shape.kind == Kind::kList || shape.kind == Kind::kMap || shape.is_plain("Value");
  if (is_required && nullable) return;  // written as null
  if (is_container) {
    // Unset differs from empty. An unset required member would be written as null, for which the
    // server's error message is worse than for a missing one.
    member.omit_zero = true;
  } else if (!is_required) {
    member.omit_empty = true;
    member.optional = is_leaf(shape);
  }
}

/// True if this is the Condition of meta/v1, repeated inline.
bool is_condition(const Place& schema) {
  static const std::set<std::string, std::less<>> kNames = {
      "lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"};
  const Place properties = schema["properties"];
  if (properties.object().size() != kNames.size() || keeps_unknown(schema)) return false;
  for (const auto& [name, property] : properties.members()) {
    const std::string_view type = name == "observedGeneration" ? "integer" : "string";
    if (!kNames.contains(name) || is_nullable(property)) return false;
    if (!property["type"].value().is_string() || property["type"].text() != type) return false;
  }
  return properties["lastTransitionTime"]["format"].text_or("") == "date-time";
}

std::string constant_name(const std::string& value) {
  if (value.empty()) return "Empty";
  std::string name = camel_case(value);
  if (name.empty()) name = "Value";
  if (name.size() > kMaxIdentifier) name.resize(kMaxIdentifier);
  return name;
}

/// Reorders the members, which are sorted by name, to the order of the schema. JSON keeps the
/// sorted order, in which servers write custom resources. The metadata of a kind stays first.
void declare_as_written(Struct& object, const Place& properties) {
  const auto position = [&](std::size_t i) {
    const std::string& json = object.members[i].json;
    return i == 0 && json == "metadata" ? 0 : properties.position_of(json) + 1;
  };
  std::vector<std::size_t> declared(object.members.size());
  std::iota(declared.begin(), declared.end(), std::size_t{0});
  if (std::ranges::is_sorted(declared, {}, position)) return;
  std::ranges::stable_sort(declared, {}, position);
  object.json_order.resize(declared.size());
  std::vector<Member> members;
  for (const std::size_t i : declared) {
    object.json_order[i] = members.size();
    members.push_back(std::move(object.members[i]));
  }
  object.members = std::move(members);
}

}  // namespace

Member named_member(const Place& place, const std::string& json, Scope& names) {
  if (json.empty()) place.fail("a property without a name");
  if (json.size() > std::numeric_limits<std::uint8_t>::max()) {
    place.fail("a property name of more than 255 bytes");
  }
  Member member;
  member.json = json;
  const std::string wanted = member_name(json);
  member.name = names.add(wanted);
  const std::vector<std::string> words = split_words(json);
  const std::size_t letters =
      std::accumulate(words.begin(), words.end(), std::size_t{0},
                      [](std::size_t sum, const std::string& word) { return sum + word.size(); });
  if (json != member.name && (letters != json.size() || member.name != wanted)) {
    member.notes.push_back(fmt::format("\"{}\" in JSON", json));
  }
  return member;
}

void SchemaReader::read_kind(const Place& schema, Struct& kind) {
  Scope names{{"kube_type", "kube_resource"}};
  const std::string type = schema["type"].text_or("object");
  if (type != "object") schema["type"].fail("a kind must be an object");
  Member metadata;
  metadata.json = "metadata";
  metadata.name = names.add("metadata");
  metadata.shape = Shape::structure("ObjectMeta", "meta::v1");
  to_.package.includes.insert(std::string{kMetaHeader});
  kind.members.push_back(std::move(metadata));
  read_properties(schema, kind, names, true, 0);
}

void SchemaReader::read_object(const Place& schema, Struct& object) {
  Scope names{{"kube_type", "kube_resource"}};
  read_properties(schema, object, names, false, 0);
}

void SchemaReader::read_properties(const Place& schema, Struct& object, Scope& names, bool is_kind,
                                   int depth) {
  object.description = schema["description"].text_or("");
  if (!schema["properties"].exists()) return;
  const std::vector<std::string> required = schema["required"].texts();
  for (const auto& [json, property] : schema["properties"].members()) {
    if (is_kind && (json == "apiVersion" || json == "kind" || json == "metadata")) continue;
    const bool is_required = std::ranges::find(required, json) != required.end();
    object.members.push_back(read_member(property, json, object, names, is_required, depth + 1));
    Member& member = object.members.back();
    // spec and status, which nearly every object has, are easier to use without a box.
    const bool is_usual = is_kind && (json == "spec" || json == "status");
    if (is_usual && member.shape.kind == Kind::kBox && !is_nullable(property)) {
      member.shape = Shape{member.shape.element.front()};
      member.omit_empty = false;
      member.omit_zero = true;
    }
  }
  declare_as_written(object, schema["properties"]);
}

Member SchemaReader::read_member(const Place& schema, const std::string& json, Struct& object,
                                 Scope& names, bool is_required, int depth) {
  Member member = named_member(schema, json, names);
  member.description = schema["description"].text_or("");
  std::string part = camel_case(json);
  if (part.empty()) part = "Field";
  Result result = read(schema, object.name + part, depth);
  const bool nullable = is_nullable(schema);
  member.shape =
      is_required && !nullable ? std::move(result.shape) : optional_of(std::move(result.shape));
  set_omission(member, is_required, nullable);
  if (!result.constants.empty()) member.notes.push_back("see " + result.constants);
  if (schema["format"].text_or("") == "date-time" &&
      (member.shape.is_plain("String") || member.shape.is_plain("OptionalString"))) {
    member.notes.emplace_back("RFC 3339 time");
  }
  if (const Place fallback = schema["default"]; fallback.exists()) {
    member.notes.push_back("default: " + encode_json(fallback.value()));
  }
  return member;
}

SchemaReader::Result SchemaReader::read(const Place& schema, const std::string& name, int depth) {
  if (depth > kMaxDepth) schema.fail(fmt::format("nested deeper than {} levels", kMaxDepth));
  static_cast<void>(schema.object());
  if (const Place ref = reference(schema); ref.exists()) {
    if (!resolve_) ref.fail("the schema of a custom resource cannot refer to another one");
    return {resolve_(ref), {}};
  }
  if (schema["x-kubernetes-int-or-string"].flag()) return {Shape::plain("IntOrString"), {}};
  if (keeps_unknown(schema)) return {Shape::plain("Value"), {}};
  return read_typed(schema, name, depth);
}

SchemaReader::Result SchemaReader::read_typed(const Place& schema, const std::string& name,
                                              int depth) {
  if (!schema["type"].exists()) {
    if (schema["properties"].exists()) return read_object_type(schema, name, depth);
    if (dialect_ == Dialect::kStructural) schema.fail("the type is missing");
    return {Shape::plain("Value"), {}};
  }
  const std::string type = schema["type"].text();
  const std::string format = schema["format"].text_or("");
  if (type == "object") return read_object_type(schema, name, depth);
  if (type == "array") return read_array(schema, name, depth);
  if (type == "boolean") return {Shape::plain("bool"), {}};
  if (type == "number") return {Shape::plain("double"), {}};
  if (type == "integer") {
    const bool is_short = format == "int32";
    return {Shape::plain(is_short ? "std::int32_t" : "std::int64_t"), read_enum(schema, name)};
  }
  if (type == "string") {
    if (format == "byte") return {Shape::plain("Bytes"), {}};
    if (format == "int-or-string") return {Shape::plain("IntOrString"), {}};
    return {Shape::plain("String"), read_enum(schema, name)};
  }
  schema["type"].fail(fmt::format("\"{}\" is not a type", printable(type)));
}

SchemaReader::Result SchemaReader::read_array(const Place& schema, const std::string& name,
                                              int depth) {
  const Place items = schema["items"];
  if (!items.exists() && dialect_ == Dialect::kStructural) {
    schema.fail("the schema of the items is missing");
  }
  // A list of the item's type could not represent a null element.
  if (!items.exists() || (items.value().is_object() && is_nullable(items))) {
    return {Shape::of(Kind::kList, Shape::plain("Value")), {}};
  }
  Result element = read(items, name + "Item", depth + 1);
  return {Shape::of(Kind::kList, std::move(element.shape)), std::move(element.constants)};
}

SchemaReader::Result SchemaReader::read_object_type(const Place& schema, const std::string& name,
                                                    int depth) {
  const bool has_properties =
      schema["properties"].exists() && !schema["properties"].object().empty();
  const Place more = schema["additionalProperties"];
  const bool has_more =
      more.exists() && (more.value().kind() != Value::Kind::kBool || more.value().as_bool());
  if (has_properties == has_more) return {Shape::plain("Value"), {}};
  if (has_more) {
    const bool is_any =
        more.value().kind() == Value::Kind::kBool || more.object().empty() || is_nullable(more);
    if (is_any) return {Shape::of(Kind::kMap, Shape::plain("Value")), {}};
    Result value = read(more, name + "Value", depth + 1);
    return {Shape::of(Kind::kMap, std::move(value.shape)), std::move(value.constants)};
  }
  if (is_condition(schema)) {
    to_.package.includes.insert(std::string{kMetaHeader});
    return {Shape::structure("Condition", "meta::v1"), {}};
  }
  Struct object;
  object.name = to_.types.add(type_name(name), "");
  object.type_name = object.name;
  Scope names{{"kube_type", "kube_resource"}};
  read_properties(schema, object, names, false, depth);
  Shape shape = Shape::structure(object.name);
  to_.package.structs.push_back(std::move(object));
  return {std::move(shape), {}};
}

std::string SchemaReader::read_enum(const Place& schema, const std::string& name) {
  if (!schema["enum"].exists()) return {};
  const bool are_integers = schema["type"].text() == "integer";
  Constants constants;
  constants.are_integers = are_integers;
  Scope names;
  std::set<std::string> seen;
  for (const Place& value : schema["enum"].elements()) {
    if (!value.exists()) continue;  // null is listed for nullable values
    if (are_integers) {
      const std::int64_t number = value.integer();
      // The smallest integer has no literal: its digits without the minus sign are out of range.
      if (number == std::numeric_limits<std::int64_t>::min()) continue;
      const std::string digits = std::to_string(number);
      const std::string label = number < 0 ? "Minus" + digits.substr(1) : digits;
      if (seen.insert(digits).second) constants.entries.push_back({"k" + names.add(label), digits});
      continue;
    }
    const std::string text = value.text();
    if (!seen.insert(text).second) continue;
    constants.entries.push_back({"k" + names.add(constant_name(text)), text});
  }
  if (constants.entries.empty()) return {};
  constants.name = to_.constants.add(member_name(name));
  to_.package.constants.push_back(constants);
  return constants.name;
}

}  // namespace kube::gen
