// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/values/field_set.hpp"
#include "testkit/values/schema_node.hpp"

#include <kube/object/value.hpp>

#include <string>
#include <vector>

/// What server-side apply does with values of a known schema. Where a value does not fit its schema, these
/// functions do something harmless; validate_typed() tells.
namespace kube::testkit::detail {

/// Errors such as ".spec.x: field not declared in schema". Duplicates in sets and list maps count as errors.
[[nodiscard]] std::vector<std::string> validate_typed(const SchemaNode& schema, const Value& value);

/// The places that an applied configuration sets.
[[nodiscard]] FieldSet field_set_of(const SchemaNode& schema, const Value& value);

struct Comparison {
  FieldSet added;
  FieldSet modified;
  FieldSet removed;

  /// Leaves out these places and all below them.
  void ignore(const FieldSet& trees);
};
[[nodiscard]] Comparison compare_typed(const SchemaNode& schema, const Value& before,
                                       const Value& after);

/// `base` with what `changes` sets. Lists that are sets or maps keep elements that are only in `base`.
[[nodiscard]] Value merge_typed(const SchemaNode& schema, const Value& base, const Value& changes);

/// `value` without the places in `doomed`.
[[nodiscard]] Value remove_typed(const SchemaNode& schema, Value value, const FieldSet& doomed);

/// `set`, where fields of structs belong to it as soon as anything below them does.
[[nodiscard]] FieldSet with_named_fields(const SchemaNode& schema, FieldSet set);

/// Adds what Go writes although it is not set (SchemaField::zero_value), so that a missing empty struct and
/// a present one are the same.
void fill_zero_values(const SchemaNode& schema, Value& value);

}  // namespace kube::testkit::detail
