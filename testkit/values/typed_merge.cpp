// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/schema_view.hpp"
#include "testkit/values/typed_value.hpp"

#include <unordered_map>

namespace kube::testkit::detail {

namespace {

Value merge(const SchemaNode& schema, const Value* base, const Value* changes);

/// Merges two lists. Elements in `changes` have the order of `changes`; elements only in `base`
/// stay near their neighbours.
Value merge_lists(const SchemaNode& schema, const Value* base, const Value* changes) {
  struct Entry {
    std::string step;
    const Value* value;
  };
  const auto index = [&](const Value* list) {
    std::vector<Entry> entries;
    if (list == nullptr || !list->is_array()) return entries;
    for (const Value& element : list->as_array()) {
      if (auto step = element_step(schema, element, nullptr))
        entries.push_back({std::move(*step), &element});
    }
    return entries;
  };
  const std::vector<Entry> left = index(base);
  const std::vector<Entry> right = index(changes);
  std::unordered_map<std::string_view, const Value*> in_left;  // null: a duplicate
  for (const Entry& entry : left) {
    const auto [found, is_new] = in_left.emplace(entry.step, entry.value);
    if (!is_new) found->second = nullptr;
  }
  std::unordered_map<std::string_view, const Value*> in_right;
  for (const Entry& entry : right) in_right.emplace(entry.step, entry.value);

  Value result = Value::array();
  const auto take_right = [&](const Entry& entry) {
    const auto same = in_left.find(entry.step);
    result.push_back(
        merge(element_schema(schema), same == in_left.end() ? nullptr : same->second, entry.value));
  };
  // An element that is only in `base` is emitted as soon as all shared elements before it in `base`
  // are emitted, except those that come later in `changes`.
  std::size_t l = 0;
  for (const Entry& entry : right) {
    while (l < left.size()) {
      if (!in_right.contains(left[l].step)) {
        result.push_back(merge(element_schema(schema), left[l].value, nullptr));
      } else if (left[l].step == entry.step) {
        ++l;
        break;
      } else if (in_left.contains(entry.step)) {
        // A shared element, but not the next one in the order of `changes`: it is emitted in its
        // own turn.
      } else {
        break;
      }
      ++l;
    }
    take_right(entry);
  }
  for (; l < left.size(); ++l) {
    if (!in_right.contains(left[l].step)) {
      result.push_back(merge(element_schema(schema), left[l].value, nullptr));
    }
  }
  return result;
}

Value merge(const SchemaNode& schema, const Value* base, const Value* changes) {
  const Value* shaping = changes != nullptr && !changes->is_null() ? changes : base;
  const SchemaView view = view_of(schema, shaping);
  if (view == SchemaView::kLeaf || (has_none(base) && has_none(changes))) {
    return changes != nullptr ? *changes : *base;
  }
  const bool wrong = changes != nullptr && !changes->is_null() &&
                     (view == SchemaView::kObject ? !changes->is_object() : !changes->is_array());
  if (wrong) return *changes;
  if (view == SchemaView::kList) return merge_lists(schema, base, changes);
  Value result = Value::object();
  zip_members(base, changes, [&](std::string_view name, const Value* a, const Value* b) {
    result[name] = merge(member_schema(schema, name), a, b);
  });
  return result;
}

}  // namespace

Value merge_typed(const SchemaNode& schema, const Value& base, const Value& changes) {
  return merge(schema, &base, &changes);
}

}  // namespace kube::testkit::detail
