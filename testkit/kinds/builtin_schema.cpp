// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/builtin_schema.hpp"

#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube::testkit::detail {

extern const std::string_view kBuiltinFacts;

namespace {

using Shape = SchemaNode::Shape;
using Scalar = SchemaNode::Scalar;
using ListType = SchemaNode::ListType;

/// Builds the nodes from the facts, each type once, on first use.
class Builder {
 public:
  explicit Builder(const Value& facts) {
    for (const Value& group : facts["groups"].as_array()) {
      const std::string package = std::string{text_member(group, "name")} + '/' +
                                  std::string{text_member(group, "version")} + '.';
      for (const Value& type : group["types"].as_array()) {
        std::string name = package + std::string{text_member(type, "name")};
        if (type["type_meta"].kind() == Value::Kind::kBool) {
          kinds_.emplace(std::tuple{text_member(group, "group"), text_member(group, "version"),
                                    text_member(type, "name")},
                         name);
        }
        facts_.emplace(std::move(name), &type);
      }
    }
    for (const auto& [kind, name] : kinds_) struct_node(name);
    for (const auto& [field, type] : always_written_)
      field->zero_value = zero_of(*field->node, type);
  }

  const SchemaNode* find(std::string_view group, std::string_view version,
                         std::string_view kind) const {
    const auto found = kinds_.find({group, version, kind});
    return found == kinds_.end() ? nullptr : types_.at(found->second);
  }
  const SchemaNode& object_meta() const { return *types_.at("meta/v1.ObjectMeta"); }

 private:
  SchemaNode& make(Shape shape) {
    SchemaNode& node = nodes_.emplace_back();
    node.shape = shape;
    return node;
  }

  const SchemaNode& scalar(Scalar type) {
    const SchemaNode*& known = scalars_[static_cast<int>(type)];
    if (known == nullptr) {
      SchemaNode& node = make(Shape::kScalar);
      node.scalar = type;
      known = &node;
    }
    return *known;
  }

  const SchemaNode* struct_node(const std::string& name) {
    if (const auto found = types_.find(name); found != types_.end()) return found->second;
    const Value& type = *facts_.at(name);
    if (!text_member(type, "json_shape").empty()) return types_[name] = &deduced_schema();
    SchemaNode& node = make(Shape::kObject);
    types_[name] = &node;  // before its fields, because types may be recursive
    node.atomic = text_member(type, "struct_type") == "atomic";
    if (type["type_meta"].kind() == Value::Kind::kBool) {
      node.fields["apiVersion"].node = node.fields["kind"].node = &scalar(Scalar::kString);
    }
    add_fields(node, type);
    if (node.fields.empty()) node.element = &deduced_schema();
    return &node;
  }

  void add_fields(SchemaNode& node, const Value& type) {
    for (const Value& fact : type["fields"].as_array()) {
      std::string_view type_name = text_member(fact, "type");
      if (member(fact, "inline") == nullptr) {
        SchemaField& field = node.fields[std::string{text_member(fact, "json")}];
        field = make_field(fact, type_name);
        // Go's omitempty never omits a struct.
        if (member(fact, "omitzero") == nullptr &&
            (is_struct(type_name) || member(fact, "omitempty") == nullptr)) {
          always_written_.emplace_back(&field, type_name);
        }
        continue;
      }
      if (type_name.starts_with('*')) type_name.remove_prefix(1);
      add_fields(node, *facts_.at(std::string{type_name}));
    }
  }

  SchemaField make_field(const Value& fact, std::string_view type_name) {
    SchemaField field;
    field.default_value = fact["default"];
    field.merge_key = text_member(fact, "patch_merge_key");
    const std::string_view strategy = text_member(fact, "patch_strategy");
    field.merge = strategy.starts_with("merge");
    field.replace = strategy == "replace";
    field.retain_keys = strategy.ends_with("retainKeys");
    field.node = node_of(type_name, &fact);
    return field;
  }

  /// `fact` describes the field that has this type; null for elements.
  const SchemaNode* node_of(std::string_view type, const Value* fact) {
    if (type.starts_with('*')) return node_of(type.substr(1), fact);
    if (type.starts_with("[]")) return list_node(type.substr(2), fact);
    if (type.starts_with("map[string]")) {
      SchemaNode& node = make(Shape::kObject);
      node.atomic = fact != nullptr && text_member(*fact, "map_type") == "atomic";
      node.element = node_of(type.substr(11), nullptr);
      return &node;
    }
    if (type == "string" || type == "bytes") return &scalar(Scalar::kString);
    if (type == "bool") return &scalar(Scalar::kBoolean);
    if (type == "int32" || type == "int64" || type == "float64") return &scalar(Scalar::kNumber);
    if (type == "raw_extension") return &any_schema();
    if (type == "json" || type == "fields_v1") return &deduced_schema();
    if (type.find('/') == std::string_view::npos)
      return &scalar(Scalar::kAny);  // Time, Quantity...
    const SchemaNode* node = struct_node(std::string{type});
    const std::string_view relation = fact == nullptr ? "" : text_member(*fact, "struct_type");
    if (relation.empty() || node->atomic == (relation == "atomic")) return node;
    SchemaNode& other = nodes_.emplace_back(*node);
    other.atomic = relation == "atomic";
    return &other;
  }

  const SchemaNode* list_node(std::string_view element, const Value* fact) {
    SchemaNode& node = make(Shape::kList);
    node.element = node_of(element, nullptr);
    if (fact == nullptr) return &node;
    const std::string_view type = text_member(*fact, "list_type");
    const std::string_view merge_key = text_member(*fact, "patch_merge_key");
    const bool merges = type.empty() && text_member(*fact, "patch_strategy").starts_with("merge");
    if (type == "map") {
      node.list_type = ListType::kMap;
      for (const Value& key : (*fact)["list_map_keys"].as_array()) {
        node.list_keys.emplace_back(key.as_string());
      }
    } else if (merges && !merge_key.empty()) {
      node.list_type = ListType::kMap;
      node.list_keys.emplace_back(merge_key);
    } else if (merges || type == "set") {
      node.list_type = ListType::kSet;
    }
    return &node;
  }

  static bool is_named(std::string_view type) { return type.find('/') < type.find_first_of("*["); }
  static bool is_struct(std::string_view type) {
    static constexpr std::array kLeaves{"time",          "microtime",     "duration",
                                        "int_or_string", "raw_extension", "quantity"};
    return is_named(type) || std::ranges::find(kLeaves, type) != kLeaves.end();
  }

  static Value zero_of(const SchemaNode& node, std::string_view type) {
    if (is_named(type)) return zero_struct(node);
    if (type == "string") return "";
    if (type == "bool") return false;
    if (type == "int32" || type == "int64" || type == "float64" || type == "int_or_string")
      return 0;
    if (type == "quantity") return "0";
    if (type == "duration") return "0s";
    return nullptr;
  }

 public:
  static Value zero_struct(const SchemaNode& node) {
    Value object = Value::object();
    for (const auto& [name, field] : node.fields) {
      if (!field.zero_value.is_absent()) object[name] = field.zero_value;
    }
    return object;
  }

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::string> kinds_;
  std::unordered_map<std::string, const Value*> facts_;
  std::unordered_map<std::string, const SchemaNode*> types_;
  std::map<int, const SchemaNode*> scalars_;
  std::vector<std::pair<SchemaField*, std::string_view>> always_written_;
  SchemaNodes nodes_;
};

const Builder& builder() {
  static const Builder kInstance{builtin_facts()};
  return kInstance;
}

}  // namespace

const Value& builtin_facts() {
  static const Ref<Value> kFacts = decode_json<Value>(kBuiltinFacts);
  return *kFacts;
}

const SchemaNode* builtin_schema(std::string_view group, std::string_view version,
                                 std::string_view kind) {
  return builder().find(group, version, kind);
}

Value zero_object(const SchemaNode& schema) { return Builder::zero_struct(schema); }

const SchemaNode& object_meta_schema() { return builder().object_meta(); }

}  // namespace kube::testkit::detail
