// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

struct SchemaNode;

/// A member of an object, with the annotations that patches need.
struct SchemaField {
  const SchemaNode* node = nullptr;
  Value default_value;    ///< absent if there is none
  Value zero_value;       ///< written by Go for an unset field; absent if Go omits it
  std::string merge_key;  ///< strategic merge: the member that identifies list elements
  bool merge = false;     ///< strategic merge: a list is merged, not replaced
  bool replace = false;   ///< strategic merge: an object is replaced, not merged
  bool retain_keys = false;
};

/// The schema of a value for patches and server-side apply: which members exist, and which parts
/// are owned and merged atomically. Immutable once built; nodes may form cycles.
struct SchemaNode {
  enum class Shape : std::uint8_t {
    kAny,      ///< any value, atomic
    kDeduced,  ///< any value: objects granular, lists atomic
    kScalar,
    kObject,  ///< `fields`; if `element` is not null, also other members
    kList,
  };
  enum class Scalar : std::uint8_t { kAny, kString, kNumber, kBoolean };
  enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

  Shape shape = Shape::kAny;
  Scalar scalar = Scalar::kAny;
  bool atomic = false;  ///< for objects: owned as a whole
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys = {};  ///< for ListType::kMap
  std::map<std::string, SchemaField, std::less<>> fields = {};
  const SchemaNode* element = nullptr;  ///< of a list, or of members without a field

  /// Returns the field of that name, or null.
  [[nodiscard]] const SchemaField* field(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
  /// Returns the schema of the member `name`, or null if there is no such member.
  [[nodiscard]] const SchemaNode* member(std::string_view name) const {
    if (const SchemaField* known = field(name)) return known->node;
    return shape == Shape::kDeduced ? this : element;
  }
  [[nodiscard]] bool is_list_map() const {
    return shape == Shape::kList && list_type == ListType::kMap;
  }
};

/// Owns the nodes of a schema at stable addresses.
using SchemaNodes = std::deque<SchemaNode>;

[[nodiscard]] const SchemaNode& any_schema() noexcept;
[[nodiscard]] const SchemaNode& deduced_schema() noexcept;

/// Return the members of `object` that are not in `schema`, as "spec.x" or "spec.containers[0].y",
/// in order (CR-7). The second function also removes them.
[[nodiscard]] std::vector<std::string> unknown_fields(const SchemaNode& schema,
                                                      const Value& object);
std::vector<std::string> remove_unknown_fields(const SchemaNode& schema, Value& object);

}  // namespace kube::testkit::detail
