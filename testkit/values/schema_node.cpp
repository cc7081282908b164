// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/schema_node.hpp"

#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

namespace kube::testkit::detail {

namespace {

using Shape = SchemaNode::Shape;

/// Walks along `value` and collects, and with `Mutable` also removes, fields that are not in the
/// schema.
class UnknownFields {
 public:
  explicit UnknownFields(bool remove) : remove_(remove) {}

  void visit(const SchemaNode& schema, Value& value, const std::string& path) {
    if (schema.shape == Shape::kList && value.is_array() && schema.element != nullptr) {
      std::size_t i = 0;
      for (Value& element : elements(value)) {
        visit(*schema.element, element, fmt::format("{}[{}]", path, i++));
      }
    } else if (schema.shape == Shape::kObject && value.is_object()) {
      visit_object(schema, value, path);
    }
  }

  std::vector<std::string> paths;

 private:
  void visit_object(const SchemaNode& schema, Value& object, const std::string& path) {
    Value kept = Value::object();
    const std::size_t before = paths.size();
    std::size_t unknown = 0;
    for (auto&& [key, value] : members(object)) {
      std::string here = path.empty() ? key.str() : path + '.' + key.str();
      const SchemaNode* known = schema.member(key.view());
      if (known == nullptr) {
        paths.push_back(std::move(here));
        ++unknown;
      } else {
        visit(*known, value, here);
      }
    }
    if (!remove_ || unknown == 0 || paths.size() == before) return;
    for (auto&& [key, value] : members(object)) {
      if (schema.member(key.view()) != nullptr) kept[key.view()] = std::move(value);
    }
    object = std::move(kept);
  }

  bool remove_;
};

}  // namespace

const SchemaNode& any_schema() noexcept {
  static const SchemaNode kNode{.shape = Shape::kAny};
  return kNode;
}

const SchemaNode& deduced_schema() noexcept {
  static const SchemaNode kNode{.shape = Shape::kDeduced};
  return kNode;
}

std::vector<std::string> unknown_fields(const SchemaNode& schema, const Value& object) {
  UnknownFields walk{false};
  walk.visit(schema, const_cast<Value&>(object), {});  // never modified in this instantiation
  return std::move(walk.paths);
}

std::vector<std::string> remove_unknown_fields(const SchemaNode& schema, Value& object) {
  UnknownFields walk{true};
  walk.visit(schema, object, {});
  return std::move(walk.paths);
}

}  // namespace kube::testkit::detail
