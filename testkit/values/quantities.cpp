// SPDX-License-Identifier: Apache-2.0
#include <kube/api/quantity.hpp>

#include <map>
#include <mutex>
#include <utility>

#include "testkit/kinds/kind_rules.hpp"

namespace kube::testkit::detail {

namespace {

/// Determines which types contain quantities, directly or nested.
class Holders {
 public:
  bool holds(const Type& type) {
    if (type.leaf == &kube::detail::kQuantityOperations) return true;
    if (type.element == nullptr && type.fields.empty()) return false;
    const auto [known, is_new] = known_.try_emplace(&type, false);
    if (!is_new) return known->second;  // also returned while a recursive type is being visited
    bool found = type.element != nullptr && type.leaf == nullptr && holds(*type.element);
    for (const Field& field : type.fields) found = holds(*field.type) || found;
    return known_[&type] = found;
  }

 private:
  std::map<const Type*, bool> known_;
};

bool holds_quantities(const Type& type) {
  static std::mutex mutex;
  static Holders holders;
  const std::lock_guard guard{mutex};
  return holders.holds(type);
}

}  // namespace

void canonicalize_quantities(const Type& type, Value& object) {
  if (!holds_quantities(type)) return;
  if (type.kind == Kind::kLeaf) {
    if (object.is_string()) object = Quantity{object.as_string()}.canonical().text();
  } else if (type.kind == Kind::kBox) {
    canonicalize_quantities(*type.element, object);
  } else if (type.kind == Kind::kList && object.is_array()) {
    Value changed = Value::array();
    for (const Value& element : std::as_const(object).as_array()) {
      Value copy = element;
      canonicalize_quantities(*type.element, copy);
      changed.push_back(std::move(copy));
    }
    object = std::move(changed);
  } else if (type.kind == Kind::kMap && object.is_object()) {
    Value changed = object;
    for (const auto& [key, element] : std::as_const(object).as_object()) {
      canonicalize_quantities(*type.element, changed[key.view()]);
    }
    object = std::move(changed);
  } else if (type.kind == Kind::kStruct && object.is_object()) {
    for (const Field& field : type.fields) {
      if (!std::as_const(object)[field.name()].is_absent()) {
        canonicalize_quantities(*field.type, object[field.name()]);
      }
    }
  }
}

}  // namespace kube::testkit::detail
