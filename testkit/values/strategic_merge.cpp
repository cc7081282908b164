// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/strategic_merge.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/merge_patch.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList/";

[[noreturn]] void bad_request(std::string_view text) {
  throw ApiError{failure_status(400, meta::v1::status_reason::kBadRequest, text)};
}
[[noreturn]] void internal(std::string_view text) { throw ApiError{failure_status(500, "", text)}; }

/// Formats a value like Go's %v.
std::string go_text(const Value& value) {
  if (value.is_string()) return std::string{value.as_string()};
  if (value.is_null()) return "<nil>";
  std::string out;
  if (value.is_array()) {
    for (const Value& element : value.as_array())
      out += (out.empty() ? "" : " ") + go_text(element);
    return '[' + out + ']';
  }
  if (!value.is_object()) return encode_json(value);
  for (const auto& [key, element] : value.as_object()) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", key.view(), go_text(element));
  }
  return "map[" + out + ']';
}

/// The fields of an object during the merge. Unlike in a Value, inserting and erasing is fast.
using Fields = std::map<std::string, Value, std::less<>>;
using Elements = std::vector<Value>;

Fields take_fields(Value& object) {
  Fields fields;
  if (!object.is_object()) return fields;
  for (auto&& [key, value] : members(object))
    fields.emplace_hint(fields.end(), key.str(), std::move(value));
  return fields;
}

Value to_value(Fields& fields) {
  Value object = Value::object();
  for (auto& [key, value] : fields) object[key] = std::move(value);
  return object;
}

Elements take_elements(Value& array) {
  Elements list;
  for (Value& element : elements(array)) list.push_back(std::move(element));
  return list;
}

Value to_value(Elements& list) {
  Value array = Value::array();
  for (Value& element : list) array.push_back(std::move(element));
  return array;
}

/// Removes objects that consist of directives only. Returns an absent value if nothing remains.
Value without_directives(const Value& value) {
  if (value.is_array()) {
    Value result = Value::array();
    for (const Value& element : value.as_array()) {
      if (Value kept = without_directives(element); !kept.is_absent())
        result.push_back(std::move(kept));
    }
    return result;
  }
  if (!value.is_object()) return value;
  if (member(value, kPatch) != nullptr) return {};
  Value result = Value::object();
  for (const auto& [key, element] : value.as_object()) {
    if (Value kept = without_directives(element); !kept.is_absent())
      result[key.view()] = std::move(kept);
  }
  return result;
}

/// Returns the identity of an element of a merged list: the value of the merge key, or the whole
/// primitive.
std::string identity(const Value& element, std::string_view merge_key) {
  if (merge_key.empty()) return encode_json(element);
  if (!element.is_object()) internal(fmt::format("value {} is not a map", go_text(element)));
  const Value* key = member(element, merge_key);
  if (key == nullptr) {
    internal(fmt::format("map: {} does not contain declared merge key: {}", go_text(element),
                         merge_key));
  }
  return encode_json(*key);
}

using Positions = std::unordered_map<std::string, std::size_t>;

/// Returns the first position of each element.
template <typename Range>
Positions positions_of(const Range& list, std::string_view merge_key) {
  Positions positions;
  std::size_t i = 0;
  for (const Value& element : list) positions.emplace(identity(element, merge_key), i++);
  return positions;
}

/// Sorts the elements that the patch names into the order of the patch; the others keep their
/// places around them. New elements come before those that only the server has.
Elements in_order(Elements merged, const Positions& patch_order, const Positions& server_order,
                  std::string_view merge_key) {
  struct Entry {
    Value* element;
    std::size_t by_patch;
    std::optional<std::size_t> by_server;
  };
  std::vector<Entry> named;
  std::vector<Entry> others;
  for (Value& element : merged) {
    const std::string key = identity(element, merge_key);
    const auto in_patch = patch_order.find(key);
    const auto in_server = server_order.find(key);
    Entry entry{&element, 0, std::nullopt};
    if (in_server != server_order.end()) entry.by_server = in_server->second;
    if (in_patch == patch_order.end()) {
      others.push_back(entry);
    } else {
      entry.by_patch = in_patch->second;
      named.push_back(entry);
    }
  }
  std::ranges::stable_sort(named, {}, &Entry::by_patch);
  std::ranges::stable_sort(others, {},
                           [](const Entry& e) { return e.by_server.value_or(SIZE_MAX); });
  Elements result;
  auto other = others.begin();
  for (const Entry& entry : named) {
    while (other != others.end() && other->by_server && entry.by_server &&
           *other->by_server < *entry.by_server) {
      result.push_back(std::move(*other++->element));
    }
    result.push_back(std::move(*entry.element));
  }
  for (; other != others.end(); ++other) result.push_back(std::move(*other->element));
  return result;
}

Value merge_object(Value original, const Value& patch, const SchemaNode* schema);

/// Returns true for lists of objects, false for lists of primitives.
template <typename Range>
bool holds_objects(const Range& original, const List<Value>& patch) {
  std::optional<Value::Kind> kind;
  const auto look = [&](const auto& list) {
    for (const Value& element : list) {
      if (element.is_array()) {
        throw ApiError{
            failure_status(422, meta::v1::status_reason::kInvalid,
                           "the server rejected our request due to an error in our request")};
      }
      if (kind && *kind != element.kind()) internal("list element types are not identical");
      kind = element.kind();
    }
  };
  look(original);
  look(patch);
  return kind == Value::Kind::kObject;
}

/// The elements of `patch` merged into `original` (unordered), the order required by the patch, and
/// the order of the remaining elements of `original`.
struct MergedList {
  Elements elements;
  Positions patch_order;
  Positions server_order;
};

MergedList merge_objects(Elements original, const List<Value>& patch, std::string_view merge_key,
                         const SchemaNode* element_schema) {
  if (merge_key.empty()) internal("cannot merge lists without merge key");
  std::vector<const Value*> changes;
  std::unordered_map<std::string, bool> deleted;
  bool replace = false;
  for (const Value& element : patch) {
    const Value* directive = member(element, kPatch);
    if (directive == nullptr) {
      changes.push_back(&element);
    } else if (*directive == Value{"delete"}) {
      deleted.emplace(identity(element, merge_key), true);
    } else if (*directive == Value{"replace"}) {
      replace = true;
    } else if (*directive == Value{"merge"}) {
      internal("merging lists cannot yet be specified in the patch");
    } else {
      internal(
          fmt::format("unknown patch type: {} in map: {}", go_text(*directive), go_text(element)));
    }
  }
  MergedList result;
  if (replace) {
    for (const Value* change : changes) result.elements.push_back(*change);
    return result;
  }
  if (!deleted.empty()) {
    std::erase_if(original, [&](const Value& element) {
      return deleted.contains(identity(element, merge_key));
    });
  }
  Positions known;
  std::size_t count = 0;
  for (const Value& element : original) {
    if (member(element, merge_key) != nullptr) known.emplace(identity(element, merge_key), count);
    ++count;
  }
  result.server_order = known;
  for (const Value* change : changes) {
    std::string key = identity(*change, merge_key);
    result.patch_order.emplace(key, result.patch_order.size());
    if (const auto found = known.find(key); found != known.end()) {
      Value& target = original[found->second];
      target = merge_object(std::move(target), *change, element_schema);
    } else {
      known.emplace(std::move(key), original.size());
      original.push_back(*change);  // nested directives are not interpreted
    }
  }
  result.elements = std::move(original);
  return result;
}

MergedList merge_primitives(Elements original, const List<Value>& patch) {
  MergedList result;
  result.server_order = positions_of(original, {});
  Positions seen;
  const auto add = [&](Value element) {
    if (seen.emplace(encode_json(element), seen.size()).second)
      result.elements.push_back(std::move(element));
  };
  for (Value& element : original) add(std::move(element));
  for (const Value& element : patch) add(element);
  result.patch_order = positions_of(patch, {});
  return result;
}

/// `order` is the value of $setElementOrder; null if the order of the patch applies.
Value merge_list(Value original, const List<Value>& patch, const SchemaField& field,
                 const Positions* order) {
  Elements before = take_elements(original);
  if (before.empty() && patch.empty()) return Value::array();
  const bool objects = holds_objects(before, patch);
  const std::string_view merge_key =
      objects ? std::string_view{field.merge_key} : std::string_view{};
  Positions server_order;
  if (order != nullptr && (!objects || !merge_key.empty())) {
    server_order = positions_of(before, merge_key);
  }
  MergedList merged = objects
                          ? merge_objects(std::move(before), patch, merge_key, field.node->element)
                          : merge_primitives(std::move(before), patch);
  Elements result =
      order == nullptr
          ? in_order(std::move(merged.elements), merged.patch_order, merged.server_order, merge_key)
          : in_order(std::move(merged.elements), *order, server_order, merge_key);
  return to_value(result);
}

/// Throws unless the elements of the patch are in the order of $setElementOrder.
void check_order(const List<Value>& patch, const List<Value>& order, std::string_view merge_key) {
  if (order.empty() || patch.empty()) return;
  const Positions positions = positions_of(order, merge_key);
  std::size_t next = 0;
  for (const Value& element : patch) {
    if (member(element, kPatch) != nullptr) continue;
    const auto found = positions.find(identity(element, merge_key));
    if (found == positions.end() || found->second < next) {
      internal("The order in patch list doesn't match $setElementOrder list");
    }
    next = found->second + 1;
  }
}

class ObjectMerger {
 public:
  ObjectMerger(Value original, const Value& patch, const SchemaNode* schema)
      : fields_(take_fields(original)), patch_(patch), schema_(schema) {}

  Value run() {
    retain_keys();
    for (const auto& [key, value] : patch_.as_object()) {
      if (key.view().starts_with(kSetElementOrder)) {
        ordered_list(key.view().substr(kSetElementOrder.size()), value);
      }
    }
    for (const auto& [key, value] : patch_.as_object()) {
      const std::string_view name = key.view();
      if (name == kRetainKeys || name.starts_with(kSetElementOrder)) continue;
      if (name.starts_with(kDeleteFromPrimitiveList)) {
        delete_primitives(name.substr(kDeleteFromPrimitiveList.size()), value);
      } else if (!ordered_.contains(name)) {
        member_of_patch(name, value);
      }
    }
    return to_value(fields_);
  }

 private:
  const SchemaField* field(std::string_view name) const {
    return schema_ == nullptr ? nullptr : schema_->field(name);
  }

  void retain_keys() {
    const Value* keys = member(patch_, kRetainKeys);
    if (keys == nullptr) return;
    if (!keys->is_array()) bad_request("invalid patch format of retainKeys");
    Positions retained;
    for (const Value& key : keys->as_array()) {
      if (key.is_string()) retained.emplace(key.as_string(), 0);
    }
    for (const auto& [key, value] : patch_.as_object()) {
      if (key == kRetainKeys || value.is_null() || key.view().starts_with(kSetElementOrder) ||
          key.view().starts_with(kDeleteFromPrimitiveList)) {
        continue;
      }
      if (!retained.contains(key.str())) bad_request("invalid patch format of retainKeys");
    }
    std::erase_if(fields_, [&](const auto& entry) { return !retained.contains(entry.first); });
  }

  /// Merges the list `name` with $setElementOrder.
  void ordered_list(std::string_view name, const Value& order) {
    if (!order.is_array()) bad_request("invalid patch format of setElementOrder list");
    const SchemaField* known = field(name);
    const Value* change = member(patch_, name);
    const auto found = fields_.find(name);
    if (known == nullptr || (change == nullptr && found == fields_.end())) return;
    if ((change != nullptr && !change->is_array()) ||
        (found != fields_.end() && !found->second.is_array())) {
      bad_request("invalid patch format of setElementOrder list");
    }
    ordered_.emplace(name, true);
    static const List<Value> kNone;
    const List<Value>& elements = change == nullptr ? kNone : change->as_array();
    check_order(elements, order.as_array(), known->merge_key);
    if (elements.empty() && (found == fields_.end() || found->second.size() == 0)) {
      internal("no elements in any of the given slices");
    }
    if (found == fields_.end()) {
      fields_.emplace(name, without_directives(*change));
      return;
    }
    if (!known->merge) {
      if (change != nullptr) found->second = *change;
      return;
    }
    const Positions positions = positions_of(order.as_array(), known->merge_key);
    found->second = merge_list(std::move(found->second), elements, *known, &positions);
  }

  void delete_primitives(std::string_view name, const Value& doomed) {
    if (!doomed.is_array()) bad_request("invalid patch format of primitive list");
    const auto found = fields_.find(name);
    if (found == fields_.end() || !found->second.is_array()) return;
    static_cast<void>(holds_objects(std::as_const(found->second).as_array(), doomed.as_array()));
    const Positions positions = positions_of(doomed.as_array(), {});
    elements(found->second).erase_if([&](const Value& element) {
      return positions.contains(encode_json(element));
    });
  }

  void member_of_patch(std::string_view name, const Value& change) {
    const auto found = fields_.find(name);
    if (change.is_null()) {
      if (found != fields_.end()) fields_.erase(found);
      return;
    }
    if (found == fields_.end() || found->second.kind() != change.kind()) {
      Value kept = without_directives(without_nulls(change));
      if (!kept.is_absent()) {
        fields_.insert_or_assign(std::string{name}, std::move(kept));
      } else if (found != fields_.end()) {
        fields_.erase(found);
      }
      return;
    }
    Value& target = found->second;
    const SchemaField* known = field(name);
    if (change.is_object() && (known == nullptr || !known->replace)) {
      const SchemaNode* schema = known != nullptr     ? known->node
                                 : schema_ != nullptr ? schema_->element
                                                      : nullptr;
      target = merge_object(std::move(target), change, schema);
    } else if (change.is_array() && known != nullptr && known->merge) {
      target = merge_list(std::move(target), change.as_array(), *known, nullptr);
    } else {
      target = change;
    }
  }

  Fields fields_;
  const Value& patch_;
  const SchemaNode* schema_;
  std::map<std::string, bool, std::less<>> ordered_;  ///< lists that are already merged
};

Value merge_object(Value original, const Value& patch, const SchemaNode* schema) {
  if (const Value* directive = member(patch, kPatch)) {
    if (*directive == Value{"delete"}) return Value::object();
    if (*directive != Value{"replace"}) {
      internal(
          fmt::format("unknown patch type: {} in map: {}", go_text(*directive), go_text(patch)));
    }
    Value replacement = patch;
    replacement.erase(kPatch);
    return replacement;
  }
  return ObjectMerger{std::move(original), patch, schema}.run();
}

}  // namespace

Value strategic_merge(Value target, const Value& patch, const SchemaNode& schema) {
  if (!patch.is_object()) bad_request("error decoding patch: the patch is not a JSON object");
  return merge_object(std::move(target), patch, &schema);
}

}  // namespace kube::testkit::detail
