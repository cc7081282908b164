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

/// A member of an object, with what patches need to know about it.
struct SchemaField {
  const SchemaNode* node = nullptr;
  Value default_value;  ///< absent if there is none
  Value zero_value;  ///< what Go clients and servers write where nothing is set; absent if nothing
  std::string merge_key;  ///< strategic merge: elements are told apart by this member
  bool merge = false;     ///< strategic merge: a list is merged, not replaced
  bool replace = false;   ///< strategic merge: an object is replaced, not merged
  bool retain_keys = false;
};

/// The schema of a value as patches and server-side apply see it: which members there are, and what is
/// owned and merged as a whole. Immutable once built; nodes may refer to each other in circles.
struct SchemaNode {
  enum class Shape : std::uint8_t {
    kAny,      ///< anything, owned as a whole
    kDeduced,  ///< anything: objects granular, lists atomic
    kScalar,
    kObject,  ///< `fields`, and `element` for other members unless null
    kList,
  };
  enum class Scalar : std::uint8_t { kAny, kString, kNumber, kBoolean };
  enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

  Shape shape = Shape::kAny;
  Scalar scalar = Scalar::kAny;
  bool atomic = false;  ///< of an object: owned as a whole
  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_keys = {};  ///< of ListType::kMap
  std::map<std::string, SchemaField, std::less<>> fields = {};
  const SchemaNode* element = nullptr;  ///< of a list, or of members that have no field

  /// The field of that name, or null.
  [[nodiscard]] const SchemaField* field(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
  /// What the member `name` of an object is, or null if there may be no such member.
  [[nodiscard]] const SchemaNode* member(std::string_view name) const {
    if (const SchemaField* known = field(name)) return known->node;
    return shape == Shape::kDeduced ? this : element;
  }
  [[nodiscard]] bool is_list_map() const {
    return shape == Shape::kList && list_type == ListType::kMap;
  }
};

/// Owner of the nodes of a schema; they stay where they are.
using SchemaNodes = std::deque<SchemaNode>;

[[nodiscard]] const SchemaNode& any_schema() noexcept;
[[nodiscard]] const SchemaNode& deduced_schema() noexcept;

/// The members of `object` that `schema` does not know, as "spec.x" or "spec.containers[0].y", in order
/// (CR-7); the second function takes them out as well.
[[nodiscard]] std::vector<std::string> unknown_fields(const SchemaNode& schema,
                                                      const Value& object);
std::vector<std::string> remove_unknown_fields(const SchemaNode& schema, Value& object);

}  // namespace kube::testkit::detail
