// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How the operations of server-side apply see a value through its schema.
namespace kube::testkit::detail {

/// How a value is compared: as a leaf, or member by member.
enum class SchemaView : std::uint8_t { kLeaf, kObject, kList };

[[nodiscard]] SchemaView view_of(const SchemaNode& schema, const Value* value);

/// Return the schema of a member or element; any_schema() if there is none.
[[nodiscard]] const SchemaNode& member_schema(const SchemaNode& schema, std::string_view name);
[[nodiscard]] const SchemaNode& element_schema(const SchemaNode& schema);

/// Returns the path element for a field: "f:name".
[[nodiscard]] std::string field_step(std::string_view name);

/// Returns the path element for an element of a set or list map; nothing, and the reason, if the
/// element is invalid.
[[nodiscard]] std::optional<std::string> element_step(const SchemaNode& list, const Value& element,
                                                      std::string* why);

/// True if there is no value, or if it has no members or elements.
[[nodiscard]] inline bool has_none(const Value* value) {
  return value == nullptr || value->size() == 0;
}

/// Calls `visit(key, left, right)` for every key of two objects, in order; a missing value is null.
template <typename Visit>
void zip_members(const Value* left, const Value* right, Visit visit) {
  static const Map<Value> kNone;
  const Map<Value>& a = left != nullptr && left->is_object() ? left->as_object() : kNone;
  const Map<Value>& b = right != nullptr && right->is_object() ? right->as_object() : kNone;
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    const int order = i == a.end()   ? 1
                      : j == b.end() ? -1
                                     : i->key().view().compare(j->key().view());
    if (order < 0) {
      visit(i->key().view(), &i->value(), nullptr);
    } else if (order > 0) {
      visit(j->key().view(), nullptr, &j->value());
    } else {
      visit(i->key().view(), &i->value(), &j->value());
    }
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

}  // namespace kube::testkit::detail
