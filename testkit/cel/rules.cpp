// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/rules.hpp"

#include "testkit/cel/characters.hpp"
#include "testkit/cel/schema_type.hpp"

#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::is_true_member;
using detail::text_member;

/// Appends a field name or a map key to a field path.
void append_step(std::string& path, const std::string& name, bool is_named) {
  if (!is_named) {
    path += '[' + name + ']';
    return;
  }
  if (!path.empty()) path += '.';
  path += name;
}

/// Reads the text in single quotes at `at` and advances `at` past it. Returns nothing if there is
/// none.
std::optional<std::string> quoted_name(std::string_view path, std::size_t& at) {
  if (at >= path.size() || path[at] != '\'') return std::nullopt;
  std::string name;
  for (++at; at < path.size() && path[at] != '\''; ++at) {
    if (path[at] == '\\') {
      if (++at >= path.size() || (path[at] != '\'' && path[at] != '\\')) return std::nullopt;
    }
    name += path[at];
  }
  if (at++ >= path.size()) return std::nullopt;
  return name;
}

std::unique_ptr<RuleNode> build(const Value& schema, const TypePtr& type);

std::unique_ptr<RuleNode> build_part(const Value& schema) {
  const bool is_root = is_true_member(schema, "x-kubernetes-embedded-resource");
  return build(schema, type_of_schema(schema, is_root, "selfType"));
}

std::unique_ptr<RuleNode> build(const Value& schema, const TypePtr& type) {
  auto node = std::make_unique<RuleNode>();
  node->schema = &schema;
  node->type = type;
  bool any = false;
  if (type != nullptr && schema["x-kubernetes-validations"].is_array()) {
    for (const Value& entry : schema["x-kubernetes-validations"].as_array()) {
      if (trimmed(text_member(entry, "rule")).empty()) continue;
      node->rules.push_back(compile_rule(entry, schema, type));
      any = true;
    }
  }
  if (schema["items"].is_object()) node->items = build_part(schema["items"]);
  if (schema["additionalProperties"].is_object()) {
    node->additional = build_part(schema["additionalProperties"]);
  }
  if (schema["properties"].is_object()) {
    for (const auto& [name, part] : schema["properties"].as_object()) {
      if (auto below = build_part(part)) {
        node->properties.emplace(std::string{name.view()}, std::move(below));
        any = true;
      }
    }
  }
  any = any || node->items != nullptr || node->additional != nullptr;
  return any ? std::move(node) : nullptr;
}

}  // namespace

std::string Rule::missing() const {
  if (!program->missing().empty()) return program->missing().front();
  if (message_program != nullptr && !message_program->missing().empty()) {
    return message_program->missing().front();
  }
  return {};
}

std::string Rule::title() const {
  return std::string{trimmed(message.empty() ? expression : message)};
}

Rule compile_rule(const Value& entry, const Value& schema, const TypePtr& type) {
  Rule rule;
  rule.expression = text_member(entry, "rule");
  rule.message = text_member(entry, "message");
  rule.message_expression = text_member(entry, "messageExpression");
  rule.reason = text_member(entry, "reason");
  rule.optional_old_self = is_true_member(entry, "optionalOldSelf");
  if (const std::string_view path = text_member(entry, "fieldPath"); !path.empty()) {
    rule.field_path = normalize_field_path(path, schema).value_or("");
  }
  const Variables variables{{"self", type},
                            {"oldSelf", rule.optional_old_self ? optional_type(type) : type}};
  rule.program = std::make_shared<const Program>(rule.expression, variables);
  if (!rule.message_expression.empty()) {
    rule.message_program = std::make_shared<const Program>(rule.message_expression, variables);
  }
  return rule;
}

std::optional<std::string> normalize_field_path(std::string_view path, const Value& schema) {
  std::string shown;
  const Value* at = &schema;
  for (std::size_t i = 0; i < path.size();) {
    std::string name;
    const char mark = path[i++];
    if (mark == '[') {
      auto quoted = quoted_name(path, i);
      if (!quoted || i >= path.size() || path[i++] != ']') return std::nullopt;
      name = std::move(*quoted);
    } else if (mark == '.') {
      const std::size_t end = std::min(path.find_first_of(".[]", i), path.size());
      name = path.substr(i, end - i);
      i = end;
      if (name.empty()) return std::nullopt;
    } else {
      return std::nullopt;
    }
    const bool is_named = (*at)["properties"].is_object();
    const Value& next = is_named ? (*at)["properties"][name] : (*at)["additionalProperties"];
    if (!next.is_object()) return std::nullopt;
    append_step(shown, name, is_named);
    at = &next;
  }
  return shown;
}

RuleSet::RuleSet(const Value& schema)
    : root_(build(schema, type_of_schema(schema, true, "selfType"))) {}

std::string not_evaluated(std::string_view expression, std::string_view function) {
  return fmt::format("CEL expression \"{}\" was not evaluated: this server does not have {}",
                     trimmed(expression), function);
}

}  // namespace kube::testkit::cel
