// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/field_set.hpp"
#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <string>
#include <vector>

/// Operations of server-side apply on values with a schema. Where a value does not match its
/// schema, these functions degrade gracefully; validate_typed() reports the errors.
namespace kube::testkit::detail {

/// Returns errors such as ".spec.x: field not declared in schema". Duplicates in sets and list maps
/// are errors.
[[nodiscard]] std::vector<std::string> validate_typed(const SchemaNode& schema, const Value& value);

/// Returns the field paths that an applied configuration sets.
[[nodiscard]] FieldSet field_set_of(const SchemaNode& schema, const Value& value);

struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;

  /// Ignores these paths and their descendants.
  void ignore(const FieldSet& trees);
};
[[nodiscard]] Comparison compare_typed(const SchemaNode& schema, const Value& before,
                                       const Value& after);

/// Returns `base` with the values that `changes` sets. Lists that are sets or maps keep elements
/// that are only in `base`.
[[nodiscard]] Value merge_typed(const SchemaNode& schema, const Value& base, const Value& changes);

/// Returns `value` without the paths in `doomed`.
[[nodiscard]] Value remove_typed(const SchemaNode& schema, Value value, const FieldSet& doomed);

/// Returns `set`, with each struct field added that has a descendant in the set.
[[nodiscard]] FieldSet with_named_fields(const SchemaNode& schema, FieldSet set);

/// Adds the zero values that Go writes for unset fields (SchemaField::zero_value), so that a
/// missing empty struct equals a present one.
void fill_zero_values(const SchemaNode& schema, Value& value);

}  // namespace kube::testkit::detail
