// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/schema_view.hpp"
#include "testkit/values/typed_value.hpp"

#include <algorithm>
#include <map>

namespace kube::testkit::detail {

namespace {

using Path = std::vector<std::string>;

class Comparer {
 public:
  Comparison result;

  void visit(const SchemaNode& schema, const Value* before, const Value* after) {
    const SchemaView left = view_of(schema, before == nullptr ? after : before);
    const SchemaView right = view_of(schema, after == nullptr ? before : after);
    bool whole = look(left, schema, before, after);
    if (right != left) whole = look(right, schema, before, after) || whole;
    if (whole) return;
    if (before == nullptr) result.added.insert(path_);
    if (after == nullptr) result.removed.insert(path_);
  }

 private:
  /// Returns true if the value was compared as a leaf.
  bool look(SchemaView view, const SchemaNode& schema, const Value* before, const Value* after) {
    if (view == SchemaView::kLeaf || (has_none(before) && has_none(after))) {
      leaf(before, after);
      return true;
    }
    if (view == SchemaView::kObject) {
      zip_members(before, after, [&](std::string_view name, const Value* a, const Value* b) {
        path_.push_back(field_step(name));
        visit(member_schema(schema, name), a, b);
        path_.pop_back();
      });
    } else {
      lists(schema, before, after);
    }
    return false;
  }

  void leaf(const Value* before, const Value* after) {
    if (before == nullptr) {
      result.added.insert(path_);
    } else if (after == nullptr) {
      result.removed.insert(path_);
    } else if (!(*before == *after)) {
      result.modified.insert(path_);
    }
  }

  void lists(const SchemaNode& schema, const Value* before, const Value* after) {
    struct Sides {
      std::vector<const Value*> before;
      std::vector<const Value*> after;
    };
    std::map<std::string, Sides> elements;
    const auto gather = [&](const Value* list, std::vector<const Value*> Sides::*side) {
      if (list == nullptr || !list->is_array()) return;
      for (const Value& element : list->as_array()) {
        if (const auto step = element_step(schema, element, nullptr))
          (elements[*step].*side).push_back(&element);
      }
    };
    gather(before, &Sides::before);
    gather(after, &Sides::after);
    const auto first = [](const std::vector<const Value*>& list) {
      return list.empty() ? nullptr : list[0];
    };
    for (const auto& [step, sides] : elements) {
      path_.push_back(step);
      const bool twice_before = sides.before.size() > 1;
      const bool twice_after = sides.after.size() > 1;
      if (!twice_before && !twice_after) {
        visit(element_schema(schema), first(sides.before), first(sides.after));
      } else if (twice_before && twice_after) {
        if (!std::ranges::equal(sides.before, sides.after,
                                [](const Value* a, const Value* b) { return *a == *b; })) {
          result.modified.insert(path_);
        }
      } else if (twice_before) {
        if (!sides.after.empty()) visit(element_schema(schema), nullptr, sides.after[0]);
        result.removed.insert(path_);
      } else {
        if (!sides.before.empty()) visit(element_schema(schema), sides.before[0], nullptr);
        result.added.insert(path_);
      }
      path_.pop_back();
    }
  }

  Path path_;
};

class Collector {
 public:
  FieldSet result;

  void visit(const SchemaNode& schema, const Value& value) {
    switch (view_of(schema, &value)) {
      case SchemaView::kLeaf:
        result.insert(path_);
        break;
      case SchemaView::kObject:
        if (!value.is_object()) break;
        for (const auto& [name, element] : value.as_object()) {
          path_.push_back(field_step(name.view()));
          visit(member_schema(schema, name.view()), element);
          const bool nothing_below =
              element.is_null() || (element.is_object() && element.size() == 0);
          if (nothing_below || schema.field(name.view()) == nullptr) result.insert(path_);
          path_.pop_back();
        }
        break;
      case SchemaView::kList:
        list(schema, value);
        break;
    }
  }

 private:
  void list(const SchemaNode& schema, const Value& value) {
    if (!value.is_array()) return;
    std::map<std::string, std::vector<const Value*>> elements;
    for (const Value& element : value.as_array()) {
      if (const auto step = element_step(schema, element, nullptr))
        elements[*step].push_back(&element);
    }
    for (const auto& [step, same] : elements) {
      path_.push_back(step);
      if (same.size() == 1) visit(element_schema(schema), *same[0]);
      result.insert(path_);
      path_.pop_back();
    }
  }

  Path path_;
};

}  // namespace

FieldSet field_set_of(const SchemaNode& schema, const Value& value) {
  Collector collector;
  collector.visit(schema, value);
  return std::move(collector.result);
}

void Comparison::ignore(const FieldSet& trees) {
  added.subtract_trees(trees);
  modified.subtract_trees(trees);
  removed.subtract_trees(trees);
}

Comparison compare_typed(const SchemaNode& schema, const Value& before, const Value& after) {
  Comparer comparer;
  comparer.visit(schema, &before, &after);
  return std::move(comparer.result);
}

}  // namespace kube::testkit::detail
