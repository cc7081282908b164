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

/// A set of places in an object: the content of a managedFields entry (SA-6).
///
/// Each step of a path is written as in FieldsV1: `f:<name>`, `k:<json>`, `v:<json>`, `i:<n>`. A node may
/// belong to the set (`.`), have descendants that do, or both. A node without either does not exist.
struct FieldSet {
  bool is_member = false;
  std::map<std::string, FieldSet, std::less<>> children;

  /// Reads FieldsV1; nothing if it is malformed.
  static std::optional<FieldSet> from_fields_v1(const Value& fields);
  [[nodiscard]] Value to_fields_v1() const;

  /// The root itself does not count.
  [[nodiscard]] bool empty() const { return children.empty(); }
  void insert(const std::vector<std::string>& path);
  /// The node that one step leads to, or null.
  [[nodiscard]] const FieldSet* child(std::string_view step) const {
    const auto found = children.find(step);
    return found == children.end() ? nullptr : &found->second;
  }

  void add(const FieldSet& other);
  /// Removes the members that `other` has, too.
  void subtract(const FieldSet& other);
  /// Removes the members that `other` has, with everything below them.
  void subtract_trees(const FieldSet& other);
  /// Keeps the members that `other` has, too.
  void intersect(const FieldSet& other);

  /// Calls `visit` with every member, as people read it: `.spec.containers[name="a"].image`.
  /// Members of one node come before those below it.
  void for_each(const std::function<void(const std::string& path)>& visit) const;
};

/// How people read one step: `.name`, `[key="a",other=1]`, `[="value"]`, `[3]`.
[[nodiscard]] std::string step_text(std::string_view step);

}  // namespace kube::testkit::detail
