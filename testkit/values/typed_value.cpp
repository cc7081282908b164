// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/typed_value.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

namespace kube::testkit::detail {

namespace {

using Shape = SchemaNode::Shape;
using Path = std::vector<std::string>;

/// How a value is compared: as a leaf, or member by member.
enum class View { kLeaf, kObject, kList };

View view_of(const SchemaNode& schema, const Value* value) {
  switch (schema.shape) {
    case Shape::kDeduced:
      return value != nullptr && value->is_object() ? View::kObject : View::kLeaf;
    case Shape::kObject:
      return schema.atomic ? View::kLeaf : View::kObject;
    case Shape::kList:
      return schema.list_type == SchemaNode::ListType::kAtomic ? View::kLeaf : View::kList;
    case Shape::kAny:
    case Shape::kScalar:
      break;
  }
  return View::kLeaf;
}

const SchemaNode& member_schema(const SchemaNode& schema, std::string_view name) {
  const SchemaNode* found = schema.member(name);
  return found == nullptr ? any_schema() : *found;
}

const SchemaNode& element_schema(const SchemaNode& schema) {
  return schema.element == nullptr ? any_schema() : *schema.element;
}

std::string field_step(std::string_view name) { return fmt::format("f:{}", name); }

/// Returns the path element for an element of a set or list map; nothing, and the reason, if the
/// element is invalid.
std::optional<std::string> element_step(const SchemaNode& list, const Value& element,
                                        std::string* why) {
  const auto refuse = [&](std::string text) -> std::optional<std::string> {
    if (why != nullptr) *why = std::move(text);
    return std::nullopt;
  };
  if (list.list_type == SchemaNode::ListType::kSet) {
    if (element.is_object())
      return refuse("associative list without keys has an element that's a map type");
    if (element.is_array()) return refuse("not supported: associative list with lists as elements");
    if (element.is_null())
      return refuse("associative list without keys has an element that's an explicit null");
    return "v:" + encode_json(element);
  }
  if (element.is_null()) return refuse("associative list with keys may not have a null element");
  if (!element.is_object())
    return refuse("associative list with keys may not have non-map elements");
  Value keys = Value::object();
  for (const std::string& name : list.list_keys) {
    if (const Value* value = member(element, name)) {
      keys[name] = *value;
    } else if (const SchemaField* field = element_schema(list).field(name);
               field != nullptr && !field->default_value.is_absent()) {
      keys[name] = field->default_value;
    }
  }
  if (keys.size() == 0) {
    std::string names;
    for (const std::string& name : list.list_keys)
      names += (names.empty() ? "" : " ") + quoted_go(name);
    return refuse(
        fmt::format("associative list with keys has an element that omits all key fields [{}] (and "
                    "doesn't have default values for any key fields)",
                    names));
  }
  return "k:" + encode_json(keys);
}

/// Calls `visit(key, left, right)` for every key of two objects, in order; a missing value is null.
template <typename Visit>
void zip(const Value* left, const Value* right, Visit visit) {
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

bool has_none(const Value* value) { return value == nullptr || value->size() == 0; }

class Validator {
 public:
  std::vector<std::string> errors;

  void visit(const SchemaNode& schema, const Value& value, const std::string& path) {
    if (value.is_null()) return;
    switch (schema.shape) {
      case Shape::kAny:
      case Shape::kDeduced:
        break;
      case Shape::kScalar:
        scalar(schema, value, path);
        break;
      case Shape::kObject:
        if (!value.is_object()) {
          add(path, fmt::format("expected map, got &{{{}}}", encode_json(value)));
          break;
        }
        for (const auto& [name, element] : value.as_object()) {
          const std::string here = fmt::format("{}.{}", path, name.view());
          if (const SchemaNode* known = schema.member(name.view())) {
            visit(*known, element, here);
          } else {
            add(here, "field not declared in schema");
          }
        }
        break;
      case Shape::kList:
        list(schema, value, path);
        break;
    }
  }

 private:
  void add(const std::string& path, std::string_view text) {
    errors.push_back(path.empty() ? std::string{text} : fmt::format("{}: {}", path, text));
  }

  void scalar(const SchemaNode& schema, const Value& value, const std::string& path) {
    const bool is_number =
        value.kind() == Value::Kind::kInteger || value.kind() == Value::Kind::kDouble;
    const bool is_bool = value.kind() == Value::Kind::kBool;
    switch (schema.scalar) {
      case SchemaNode::Scalar::kNumber:
        if (!is_number) {
          add(path, fmt::format("expected numeric (int or float), got {}",
                                value.is_string()  ? "string"
                                : is_bool          ? "bool"
                                : value.is_array() ? "[]interface {}"
                                                   : "map[string]interface {}"));
        }
        break;
      case SchemaNode::Scalar::kString:
        if (!value.is_string()) {
          add(path, fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                                encode_json(value)));
        }
        break;
      case SchemaNode::Scalar::kBoolean:
        if (!is_bool) add(path, fmt::format("expected boolean, got &{{{}}}", encode_json(value)));
        break;
      case SchemaNode::Scalar::kAny:
        if (value.is_array() || value.is_object()) {
          add(path, fmt::format("expected any scalar, got &{{{}}}", encode_json(value)));
        }
        break;
    }
  }

  void list(const SchemaNode& schema, const Value& value, const std::string& path) {
    if (!value.is_array()) {
      add(path, fmt::format("expected list, got &{{{}}}", encode_json(value)));
      return;
    }
    const bool atomic = schema.list_type == SchemaNode::ListType::kAtomic;
    std::unordered_map<std::string, bool> seen;
    std::size_t i = 0;
    for (const Value& element : value.as_array()) {
      std::string here = fmt::format("{}[{}]", path, i);
      if (!atomic) {
        std::string why;
        const auto step = element_step(schema, element, &why);
        if (!step) {
          add(path, fmt::format("element {}: {}", i, why));
          return;
        }
        here = path + step_text(*step);
        if (!seen.emplace(*step, true).second) {
          add(path, fmt::format("duplicate entries for key {}", step_text(*step)));
        }
      }
      visit(element_schema(schema), element, here);
      ++i;
    }
  }
};

class Comparer {
 public:
  Comparison result;

  void visit(const SchemaNode& schema, const Value* before, const Value* after) {
    const View left = view_of(schema, before == nullptr ? after : before);
    const View right = view_of(schema, after == nullptr ? before : after);
    bool whole = look(left, schema, before, after);
    if (right != left) whole = look(right, schema, before, after) || whole;
    if (whole) return;
    if (before == nullptr) result.added.insert(path_);
    if (after == nullptr) result.removed.insert(path_);
  }

 private:
  /// Returns true if the value was compared as a leaf.
  bool look(View view, const SchemaNode& schema, const Value* before, const Value* after) {
    if (view == View::kLeaf || (has_none(before) && has_none(after))) {
      leaf(before, after);
      return true;
    }
    if (view == View::kObject) {
      zip(before, after, [&](std::string_view name, const Value* a, const Value* b) {
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
      case View::kLeaf:
        result.insert(path_);
        break;
      case View::kObject:
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
      case View::kList:
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
  const View view = view_of(schema, shaping);
  if (view == View::kLeaf || (has_none(base) && has_none(changes))) {
    return changes != nullptr ? *changes : *base;
  }
  const bool wrong = changes != nullptr && !changes->is_null() &&
                     (view == View::kObject ? !changes->is_object() : !changes->is_array());
  if (wrong) return *changes;
  if (view == View::kList) return merge_lists(schema, base, changes);
  Value result = Value::object();
  zip(base, changes, [&](std::string_view name, const Value* a, const Value* b) {
    result[name] = merge(member_schema(schema, name), a, b);
  });
  return result;
}

}  // namespace

std::vector<std::string> validate_typed(const SchemaNode& schema, const Value& value) {
  Validator validator;
  validator.visit(schema, value, {});
  return std::move(validator.errors);
}

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

Value merge_typed(const SchemaNode& schema, const Value& base, const Value& changes) {
  return merge(schema, &base, &changes);
}

Value remove_typed(const SchemaNode& schema, Value value, const FieldSet& doomed) {
  const View view = view_of(schema, &value);
  if (view == View::kObject && value.is_object()) {
    Value result = Value::object();
    for (auto&& [name, element] : members(value)) {
      const FieldSet* below = doomed.child(field_step(name.view()));
      if (below != nullptr && below->is_member) continue;
      if (below == nullptr || below->empty()) {
        result[name.view()] = std::move(element);
        continue;
      }
      const bool had_some = element.size() > 0;
      Value rest = remove_typed(member_schema(schema, name.view()), std::move(element), *below);
      if (!had_some || rest.size() > 0) result[name.view()] = std::move(rest);
    }
    return result;
  }
  if (view == View::kList && value.is_array()) {
    Value result = Value::array();
    for (Value& element : elements(value)) {
      const auto step = element_step(schema, element, nullptr);
      const FieldSet* below = step ? doomed.child(*step) : nullptr;
      if (below != nullptr && below->is_member) continue;
      result.push_back(below == nullptr || below->empty()
                           ? std::move(element)
                           : remove_typed(element_schema(schema), std::move(element), *below));
    }
    return result;
  }
  return value;
}

FieldSet with_named_fields(const SchemaNode& schema, FieldSet set) {
  for (auto& [step, child] : set.children) {
    const bool is_field = step.starts_with("f:");
    const std::string_view name = std::string_view{step}.substr(2);
    if (is_field && !child.children.empty() && schema.field(name) != nullptr)
      child.is_member = true;
    if (is_field || step.starts_with("k:")) {
      child = with_named_fields(is_field ? member_schema(schema, name) : element_schema(schema),
                                std::move(child));
    }
  }
  return set;
}

void fill_zero_values(const SchemaNode& schema, Value& value) {
  if (schema.shape == Shape::kList && value.is_array()) {
    for (Value& element : elements(value)) fill_zero_values(element_schema(schema), element);
  }
  if (schema.shape != Shape::kObject || !value.is_object()) return;
  for (auto&& [name, element] : members(value))
    fill_zero_values(member_schema(schema, name.view()), element);
  for (const auto& [name, field] : schema.fields) {
    if (!field.zero_value.is_absent() && member(value, name) == nullptr)
      value[name] = field.zero_value;
  }
}

}  // namespace kube::testkit::detail
