// SPDX-License-Identifier: Apache-2.0
// Checks the rules of a schema when its definition is written.
#include "testkit/cel/characters.hpp"
#include "testkit/cel/rules.hpp"
#include "testkit/cel/schema_type.hpp"

#include "testkit/values/value_edit.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::FieldError;
using detail::invalid_value;
using detail::is_true_member;
using detail::member;
using detail::required_value;
using detail::text_member;

bool is_blank(std::string_view text) { return trimmed(text).empty(); }
bool has_line_breaks(std::string_view text) { return text.find('\n') != std::string_view::npos; }

/// Formats text as a JSON string with the escapes that Go uses.
std::string go_json(std::string_view text) {
  std::string shown;
  for (const char c : encode_json(Value{text})) {
    if (c == '<' || c == '>' || c == '&') {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      shown += c;
    }
  }
  return shown;
}

/// Formats an entry as the real server shows it in messages.
std::string show_entry(const Value& entry) {
  const std::string_view reason = text_member(entry, "reason");
  const Value* optional = member(entry, "optionalOldSelf");
  return fmt::format(
      R"({{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}})",
      go_json(text_member(entry, "rule")), go_json(text_member(entry, "message")),
      go_json(text_member(entry, "messageExpression")), reason.empty() ? "null" : go_json(reason),
      go_json(text_member(entry, "fieldPath")),
      optional == nullptr ? "null" : encode_json(*optional));
}

FieldError invalid_entry(const std::string& field, const Value& entry, std::string_view detail) {
  return {std::string{meta::v1::cause_type::kFieldValueInvalid}, field,
          fmt::format("Invalid value: {}: {}", show_entry(entry), detail)};
}

class RuleChecker {
 public:
  explicit RuleChecker(std::vector<MissingRule>& missing) : missing_(missing) {}

  /// `uncorrelated` is the nearest enclosing list whose elements have no old values; empty if there
  /// is none.
  void visit(const Value& schema, const std::string& field, bool is_resource_root,
             const std::string& uncorrelated) {
    if (schema["properties"].is_object()) {
      for (const auto& [name, part] : schema["properties"].as_object()) {
        visit_part(part, fmt::format("{}.properties[{}]", field, name.view()), uncorrelated);
      }
    }
    if (schema["additionalProperties"].is_object()) {
      visit_part(schema["additionalProperties"], field + ".additionalProperties", uncorrelated);
    }
    if (schema["items"].is_object()) {
      const bool is_map = text_member(schema, "x-kubernetes-list-type") == "map";
      visit_part(schema["items"], field + ".items",
                 is_map || !uncorrelated.empty() ? uncorrelated : field);
    }
    rules(schema, field + ".x-kubernetes-validations", is_resource_root, uncorrelated);
  }

  std::vector<FieldError> errors;

 private:
  void visit_part(const Value& part, const std::string& field, const std::string& uncorrelated) {
    visit(part, field, is_true_member(part, "x-kubernetes-embedded-resource"), uncorrelated);
  }

  void rules(const Value& schema, const std::string& field, bool is_resource_root,
             const std::string& uncorrelated) {
    if (!schema["x-kubernetes-validations"].is_array()) return;
    const auto& entries = schema["x-kubernetes-validations"].as_array();
    const std::size_t before = errors.size();
    std::size_t i = 0;
    for (const Value& entry : entries) form(entry, schema, fmt::format("{}[{}]", field, i++));
    if (errors.size() > before || entries.empty()) return;
    const TypePtr type = type_of_schema(schema, is_resource_root, "selfType");
    if (type == nullptr) {
      errors.push_back(
          {std::string{meta::v1::cause_type::kInternal}, field,
           "Internal error: internal error: failed to construct type information for "
           "x-kubernetes-validations rules: unable to convert structural schema to CEL "
           "declarations"});
      return;
    }
    i = 0;
    for (const Value& entry : entries) {
      expression(entry, compile_rule(entry, schema, type), fmt::format("{}[{}]", field, i++),
                 uncorrelated);
    }
  }

  /// Checks the parts of an entry that need no compilation.
  void form(const Value& entry, const Value& schema, const std::string& field) {
    const std::string_view rule = text_member(entry, "rule");
    const std::string_view message = text_member(entry, "message");
    if (is_blank(rule)) {
      errors.push_back(required_value(field + ".rule", "rule is not specified"));
    } else if (!message.empty() && is_blank(message)) {
      errors.push_back(
          invalid_value(field + ".message", message, "must be non-empty if specified"));
    } else if (has_line_breaks(trimmed(message))) {
      errors.push_back(invalid_value(field + ".message", message, "must not contain line breaks"));
    } else if (has_line_breaks(trimmed(rule)) && is_blank(message)) {
      errors.push_back(required_value(field + ".message",
                                      "message must be specified if rule contains line breaks"));
    }
    const std::string_view expression = text_member(entry, "messageExpression");
    if (!expression.empty() && is_blank(expression)) {
      errors.push_back(required_value(field + ".messageExpression",
                                      "messageExpression must be non-empty if specified"));
    }
    static const std::array<std::string, 4> kReasons{"FieldValueDuplicate", "FieldValueForbidden",
                                                     "FieldValueInvalid", "FieldValueRequired"};
    const std::string_view reason = text_member(entry, "reason");
    if (!reason.empty() && std::ranges::find(kReasons, reason) == kReasons.end()) {
      errors.push_back(detail::not_supported(field + ".reason", reason, kReasons));
    }
    path(text_member(entry, "fieldPath"), schema, field + ".fieldPath");
  }

  void path(std::string_view path, const Value& schema, const std::string& field) {
    if (path.empty()) return;
    if (is_blank(path))
      errors.push_back(invalid_value(field, path, "must be non-empty if specified"));
    if (has_line_breaks(path))
      errors.push_back(invalid_value(field, path, "must not contain line breaks"));
    if (!normalize_field_path(path, schema)) {
      errors.push_back(invalid_value(field, path, "must be a valid path"));
    }
  }

  void expression(const Value& entry, const Rule& rule, const std::string& field,
                  const std::string& uncorrelated) {
    if (!rule.program->issues().empty()) {
      errors.push_back(
          invalid_entry(field + ".rule", entry, "compilation failed: " + rule.program->issues()));
      return;
    }
    const bool is_missing = !rule.missing().empty();
    if (is_missing) missing_.push_back({field + ".rule", rule.expression, rule.missing()});
    if (!is_missing && rule.program->type().kind != TypeKind::kBool) {
      errors.push_back(
          invalid_entry(field + ".rule", entry, "cel expression must evaluate to a bool"));
      return;
    }
    if (rule.message_program != nullptr) message(entry, rule, field);
    if (rule.uses_old_self()) {
      if (!uncorrelated.empty()) {
        errors.push_back(invalid_value(
            field + ".rule", rule.expression,
            "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
                uncorrelated));
      }
    } else if (const Value* optional = member(entry, "optionalOldSelf")) {
      errors.push_back(invalid_value(field + ".optionalOldSelf", *optional,
                                     "may not be set if oldSelf is not used in rule"));
    }
  }

  void message(const Value& entry, const Rule& rule, const std::string& field) {
    const std::string at = field + ".messageExpression";
    if (!rule.message_program->issues().empty()) {
      errors.push_back(invalid_entry(
          at, entry, "messageExpression compilation failed: " + rule.message_program->issues()));
    } else if (rule.message_program->missing().empty() &&
               rule.message_program->type().kind != TypeKind::kString) {
      errors.push_back(invalid_entry(at, entry, "messageExpression must evaluate to a string"));
    }
  }

  std::vector<MissingRule>& missing_;
};

}  // namespace

std::vector<FieldError> check_rules(const Value& schema, std::string_view field,
                                    std::vector<MissingRule>& missing) {
  RuleChecker checker{missing};
  checker.visit(schema, std::string{field}, true, {});
  return std::move(checker.errors);
}

}  // namespace kube::testkit::cel
