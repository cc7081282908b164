// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// A set of field paths in an object: the content of a managedFields entry (SA-6).
///
/// Each path element is written as in FieldsV1: `f:<name>`, `k:<json>`, `v:<json>`, `i:<n>`. A node
/// may be a member of the set (`.`), have descendants that are, or both. A node without either does
/// not exist.
struct FieldSet {
  bool is_member = false;
  std::map<std::string, FieldSet, std::less<>> children;

  /// Parses FieldsV1. Returns nothing if it is malformed.
  static std::optional<FieldSet> from_fields_v1(const Value& fields);
  [[nodiscard]] Value to_fields_v1() const;

  /// Returns whether the set has no members, ignoring the root.
  [[nodiscard]] bool empty() const { return children.empty(); }
  void insert(const std::vector<std::string>& path);
  /// Returns the child for a path element, or null.
  [[nodiscard]] const FieldSet* child(std::string_view step) const {
    const auto found = children.find(step);
    return found == children.end() ? nullptr : &found->second;
  }

  void add(const FieldSet& other);
  /// Removes the members that are also in `other`.
  void subtract(const FieldSet& other);
  /// Removes the members of `other` with their descendants.
  void subtract_trees(const FieldSet& other);
  /// Keeps only the members that are also in `other`.
  void intersect(const FieldSet& other);

  /// Calls `visit` with the path of each member in readable form:
  /// `.spec.containers[name="a"].image`. Parents are visited before their descendants.
  void for_each(const std::function<void(const std::string& path)>& visit) const;
};

/// Formats one path element in readable form: `.name`, `[key="a",other=1]`, `[="value"]`, `[3]`.
[[nodiscard]] std::string step_text(std::string_view step);

}  // namespace kube::testkit::detail
