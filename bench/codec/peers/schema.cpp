// SPDX-License-Identifier: Apache-2.0
#include "schema.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace kube::bench {
namespace {

using TypeIndex = std::map<std::string, const Value*, std::less<>>;

TypeIndex index_types(const Value& schema) {
  TypeIndex index;
  for (const Value& group : schema["groups"].as_array()) {
    const std::string prefix = std::string{group["name"].as_string()} + '/' +
                               std::string{group["version"].as_string()} + '.';
    for (const Value& type : group["types"].as_array()) {
      index.emplace(prefix + std::string{type["name"].as_string()}, &type);
    }
  }
  return index;
}

bool is_set(const Value& member) { return !member.is_absent() && member.as_bool(); }

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

PeerField field_of(const Value& described) {
  PeerField field;
  field.json = described["json"].as_string();
  field.go = described["go"].as_string();
  field.number = described["proto"].as_integer();
  field.is_inline = is_set(described["inline"]);
  field.omit_empty = is_set(described["omitempty"]);
  field.omit_zero = is_set(described["omitzero"]);
  std::string_view type = described["type"].as_string();
  if (take_prefix(type, "*")) {
    field.shape = PeerField::Shape::kPointer;
  } else if (take_prefix(type, "[]")) {
    field.shape = PeerField::Shape::kList;
  } else if (take_prefix(type, "map[string]")) {
    field.shape = PeerField::Shape::kMap;
  }
  field.element = type;
  field.is_message = type.find('/') != std::string_view::npos;
  return field;
}

class Collector {
 public:
  explicit Collector(const Value& schema) : index_(index_types(schema)) {}

  void visit(const std::string& full_name) {
    if (done_.contains(full_name)) return;
    if (!open_.insert(full_name).second) {
      throw std::runtime_error(full_name + " contains itself, which this program cannot handle");
    }
    const auto found = index_.find(full_name);
    if (found == index_.end()) throw std::runtime_error("the schema has no " + full_name);
    PeerMessage message{short_name(full_name), {}};
    for (const Value& described : (*found->second)["fields"].as_array()) {
      PeerField field = field_of(described);
      if (field.is_message) {
        visit(field.element);
        field.element = short_name(field.element);
      }
      message.fields.push_back(std::move(field));
    }
    if (!names_.insert(message.name).second) {
      throw std::runtime_error("two messages are called " + message.name);
    }
    messages_.push_back(std::move(message));
    done_.insert(full_name);
  }
  std::vector<PeerMessage> take() { return std::move(messages_); }

 private:
  static std::string short_name(const std::string& full_name) {
    return full_name.substr(full_name.rfind('.') + 1);
  }

  TypeIndex index_;
  std::set<std::string> open_;
  std::set<std::string> done_;
  std::set<std::string> names_;
  std::vector<PeerMessage> messages_;
};

}  // namespace

std::vector<PeerMessage> closure_of(const Value& schema, std::string_view root) {
  Collector collector{schema};
  collector.visit(std::string{root});
  return collector.take();
}

}  // namespace kube::bench
