// SPDX-License-Identifier: Apache-2.0
// Checks the rules of a schema when its definition is written.
#include "testkit/cel/characters.hpp"
#include "testkit/cel/cost_estimate.hpp"
#include "testkit/cel/rules.hpp"
#include "testkit/cel/schema_sizes.hpp"
#include "testkit/cel/schema_type.hpp"

#include "testkit/values/value_edit.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::FieldError;
using detail::forbidden_value;
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

/// Limits of the estimated cost of one expression, and of all rules of a schema together.
constexpr std::uint64_t kCostOfRule = 10'000'000;
constexpr std::uint64_t kCostOfSchema = 100'000'000;
/// Number of rules that are named if a schema exceeds its limit, each with at least this share.
constexpr std::size_t kMostExpensive = 4;
constexpr std::uint64_t kExpensive = kCostOfSchema / 100;

std::string cost_message(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  const std::string shown = factor > 100   ? "more than 100x"
                            : factor < 1.5 ? fmt::format("{:.6f}x", factor)
                                           : fmt::format("{:.1f}x", factor);
  return fmt::format(
      "{} exceeds budget by factor of {} (try simplifying the rule, or adding maxItems, "
      "maxProperties, and maxLength where arrays, maps, and strings are declared)",
      what, shown);
}

class RuleChecker {
 public:
  RuleChecker(CostLimits limits, std::vector<MissingRule>& missing)
      : limits_(limits), missing_(missing) {}

  /// A schema and the lists and maps around it.
  struct Place {
    std::string field;
    bool is_resource_root = false;
    /// The nearest enclosing list whose elements have no old values; empty if there is none.
    std::string uncorrelated = {};
    /// How many values of the schema an object has at most; nothing if it has no bound.
    std::optional<std::uint64_t> values = 1;
  };

  void visit(const Value& schema, const Place& place) {
    if (schema["properties"].is_object()) {
      for (const auto& [name, part] : schema["properties"].as_object()) {
        visit_part(schema, part, place, fmt::format(".properties[{}]", name.view()));
      }
    }
    if (schema["additionalProperties"].is_object()) {
      visit_part(schema, schema["additionalProperties"], place, ".additionalProperties");
    }
    if (schema["items"].is_object()) visit_part(schema, schema["items"], place, ".items");
    rules(schema, place);
  }

  /// Checks the sum of all costs. `field` is the schema.
  void total(const std::string& field) {
    if (total_ <= kCostOfSchema) return;
    for (const auto& [estimate, rule] : expensive_) {
      errors.push_back(forbidden_value(
          rule,
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 "
          "schema"));
    }
    errors.push_back(forbidden_value(
        field, cost_message("x-kubernetes-validations estimated rule cost total for entire "
                            "OpenAPIv3 schema",
                            total_, kCostOfSchema)));
  }

  std::vector<FieldError> errors;

 private:
  void visit_part(const Value& schema, const Value& part, const Place& place,
                  const std::string& step) {
    Place below{place.field + step, is_true_member(part, "x-kubernetes-embedded-resource"),
                place.uncorrelated, place.values};
    const bool is_list = step == ".items";
    if (is_list && below.uncorrelated.empty() &&
        text_member(schema, "x-kubernetes-list-type") != "map") {
      below.uncorrelated = place.field;
    }
    if (is_list || step == ".additionalProperties") {
      const auto most = schema.get_integer(is_list ? "maxItems" : "maxProperties");
      if (!most) below.values = std::nullopt;
      if (below.values) {
        const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, *most));
        below.values = saturating_multiply(*below.values, count);
      }
    }
    visit(part, below);
  }

  void rules(const Value& schema, const Place& place) {
    const std::string field = place.field + ".x-kubernetes-validations";
    if (!schema["x-kubernetes-validations"].is_array()) return;
    const auto& entries = schema["x-kubernetes-validations"].as_array();
    const std::size_t before = errors.size();
    std::size_t i = 0;
    for (const Value& entry : entries) form(entry, schema, fmt::format("{}[{}]", field, i++));
    if (errors.size() > before || entries.empty()) return;
    const TypePtr type = type_of_schema(schema, place.is_resource_root, "selfType");
    if (type == nullptr) {
      errors.push_back(
          {std::string{meta::v1::cause_type::kInternal}, field,
           "Internal error: internal error: failed to construct type information for "
           "x-kubernetes-validations rules: unable to convert structural schema to CEL "
           "declarations"});
      return;
    }
    const auto sizes = sizes_of_schema(schema, place.is_resource_root);
    i = 0;
    for (const Value& entry : entries) {
      const Rule rule = compile_rule(entry, schema, type);
      const std::string at = fmt::format("{}[{}]", field, i++);
      if (rule.program->issues().empty()) {
        const std::uint64_t values = place.values.value_or(most_values(sizes->min_bytes));
        cost(at + ".rule", "estimated rule cost",
             saturating_multiply(rule.program->estimate(*sizes), values));
      }
      if (rule.message_program != nullptr && rule.message_program->issues().empty()) {
        cost(at + ".messageExpression", "estimated messageExpression cost",
             rule.message_program->estimate(*sizes));
      }
      expression(entry, rule, at, place.uncorrelated);
    }
  }

  void cost(const std::string& field, std::string_view what, std::uint64_t estimate) {
    if (limits_ == CostLimits::kAll && estimate > kCostOfRule) {
      errors.push_back(forbidden_value(field, cost_message(what, estimate, kCostOfRule)));
    }
    total_ = saturating_add(total_, estimate);
    if (estimate < kExpensive) return;
    expensive_.emplace_back(estimate, field);
    std::ranges::stable_sort(expensive_, std::greater<>{},
                             [](const auto& one) { return one.first; });
    if (expensive_.size() > kMostExpensive) expensive_.resize(kMostExpensive);
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

  const CostLimits limits_;
  std::vector<MissingRule>& missing_;
  std::uint64_t total_ = 0;
  std::vector<std::pair<std::uint64_t, std::string>> expensive_;  // sorted, most expensive first
};

}  // namespace

std::vector<FieldError> check_rules(const Value& schema, std::string_view field, CostLimits limits,
                                    std::vector<MissingRule>& missing) {
  RuleChecker checker{limits, missing};
  checker.visit(schema, {.field = std::string{field}, .is_resource_root = true});
  checker.total(std::string{field});
  return std::move(checker.errors);
}

}  // namespace kube::testkit::cel
