// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/schema_sizes.hpp"

#include "testkit/cel/type.hpp"

#include "testkit/values/value_edit.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::is_true_member;
using detail::text_member;
using Sizes = std::unique_ptr<SchemaSizes>;

/// The size limit of a request body.
constexpr std::uint64_t kRequestBytes = std::uint64_t{3} * 1024 * 1024;
/// Brackets of a list or an object, quotes of a text.
constexpr std::uint64_t kEnclosure = 2;
constexpr std::uint64_t kLongestText = kRequestBytes - kEnclosure;
/// A code point has up to four bytes.
constexpr std::uint64_t kBytesPerCharacter = 4;

Sizes make(std::uint64_t max_elements, std::uint64_t min_bytes) {
  auto sizes = std::make_unique<SchemaSizes>();
  sizes->max_elements = max_elements;
  sizes->min_bytes = min_bytes;
  return sizes;
}

/// Returns a limit such as maxItems.
std::optional<std::uint64_t> limit(const Value& schema, std::string_view name) {
  const auto value = schema.get_integer(name);
  if (!value) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *value));
}

Sizes nested(const Value& schema) {
  return sizes_of_schema(schema, is_true_member(schema, "x-kubernetes-embedded-resource"));
}

std::uint64_t longest_enum(const Value& values) {
  std::uint64_t longest = 0;
  for (const Value& value : values.as_array()) {
    if (value.is_string()) longest = std::max<std::uint64_t>(longest, value.as_string().size());
  }
  return longest;
}

Sizes text_sizes(const Value& schema) {
  const std::string_view format = text_member(schema, "format");
  const std::optional<std::uint64_t> length = limit(schema, "maxLength");
  // Numbers include the quotes.
  if (format == "byte") return make(length.value_or(kLongestText), kEnclosure);
  if (format == "duration") return make(32, 3);
  if (format == "date") return make(12, 12);
  if (format == "date-time") return make(32, 21);
  if (length) return make(*length * kBytesPerCharacter, kEnclosure);
  const Value& values = schema["enum"];
  const bool has_enum = values.is_array() && values.size() > 0;
  return make(has_enum ? longest_enum(values) : kLongestText, kEnclosure);
}

/// Returns whether a schema describes all fields that every resource has.
bool has_resource_fields(const Value& schema) {
  const auto is = [](const Value& part, std::string_view type) {
    return part.is_object() && text_member(part, "type") == type;
  };
  const Value& properties = schema["properties"];
  if (!properties.is_object()) return false;
  const Value& metadata = properties["metadata"];
  return is(properties["kind"], "string") && is(properties["apiVersion"], "string") &&
         is(metadata, "object") && metadata["properties"].is_object() &&
         is(metadata["properties"]["name"], "string") &&
         is(metadata["properties"]["generateName"], "string");
}

bool is_required(const Value& schema, std::string_view name) {
  const Value& required = schema["required"];
  return required.is_array() && std::ranges::any_of(required.as_array(), [&](const Value& one) {
           return one.is_string() && one.as_string() == name;
         });
}

void add_field(SchemaSizes& object, std::string_view property, Sizes sizes) {
  const std::string name = escape_property(property);
  if (!name.empty()) object.fields.insert_or_assign(name, std::move(sizes));
}

Sizes object_sizes(const Value& schema, bool is_resource_root) {
  if (schema["additionalProperties"].is_object()) {
    Sizes element = nested(schema["additionalProperties"]);
    if (element == nullptr) return nullptr;
    // A key has two quotes and at least one character, a colon and a comma follow.
    const std::uint64_t most = (kRequestBytes - kEnclosure) / (element->min_bytes + 6);
    Sizes map = make(limit(schema, "maxProperties").value_or(most), kEnclosure);
    map->element = std::move(element);
    return map;
  }
  Sizes object = make(0, kEnclosure);
  const bool adds_fields = is_resource_root && !has_resource_fields(schema);
  if (schema["properties"].is_object()) {
    for (const auto& [property, part] : schema["properties"].as_object()) {
      const std::string_view name = property.view();
      if (adds_fields && (name == "kind" || name == "apiVersion" || name == "metadata")) continue;
      Sizes sizes = nested(part);
      if (sizes == nullptr) continue;
      if (is_required(schema, name) && part["default"].is_absent()) {
        object->min_bytes += name.size() + sizes->min_bytes + 4;
      }
      add_field(*object, name, std::move(sizes));
    }
  }
  if (adds_fields) {
    const auto text = [] { return make(kLongestText, kEnclosure); };
    add_field(*object, "kind", text());
    add_field(*object, "apiVersion", text());
    Sizes metadata = make(0, kEnclosure);
    add_field(*metadata, "name", text());
    add_field(*metadata, "generateName", text());
    add_field(*object, "metadata", std::move(metadata));
  }
  return object;
}

}  // namespace

std::unique_ptr<SchemaSizes> sizes_of_schema(const Value& schema, bool is_resource_root) {
  if (is_true_member(schema, "x-kubernetes-int-or-string")) {
    const std::optional<std::uint64_t> length = limit(schema, "maxLength");
    return make(length ? *length * kBytesPerCharacter : kLongestText, 1);
  }
  const std::string_view type = text_member(schema, "type");
  if (type == "array") {
    if (!schema["items"].is_object()) return nullptr;
    Sizes element = nested(schema["items"]);
    if (element == nullptr) return nullptr;
    const std::uint64_t most = (kRequestBytes - kEnclosure) / (element->min_bytes + 1);
    Sizes list = make(limit(schema, "maxItems").value_or(most), kEnclosure);
    list->element = std::move(element);
    return list;
  }
  if (type == "object") return object_sizes(schema, is_resource_root);
  if (type == "string") return text_sizes(schema);
  if (type == "boolean") return make(0, 4);
  if (type == "number" || type == "integer") return make(0, 1);
  return nullptr;
}

std::uint64_t most_values(std::uint64_t min_bytes) { return kRequestBytes / (min_bytes + 1); }

}  // namespace kube::testkit::cel
