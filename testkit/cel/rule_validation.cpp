// SPDX-License-Identifier: Apache-2.0
// Evaluates the rules of a schema when an object is written.
#include "testkit/cel/characters.hpp"
#include "testkit/cel/rules.hpp"

#include "testkit/values/value_edit.hpp"

#include <kube/api/meta/v1.hpp>
#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::FieldError;
using detail::invalid_value;
using detail::member;
using detail::text_member;

constexpr std::size_t kLongestMessage = 5 * 1024;
constexpr const char* kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Thrown when the cost budget of this object is exhausted.
struct BudgetSpent {};

/// Relates a value to its counterpart in the stored object, to tolerate violations in unchanged
/// parts (CE-9).
struct Correlation {
  const Value* now = nullptr;
  const Value* old = nullptr;  ///< null if the value has no counterpart
  const Value* parent_now = nullptr;
  const Value* parent_old = nullptr;  ///< counterpart of the nearest ancestor that has one

  [[nodiscard]] bool unchanged() const {
    if (old != nullptr) return *now == *old;
    return parent_old != nullptr && *parent_now == *parent_old;
  }
  [[nodiscard]] Correlation below(const Value& child, const Value* old_child) const {
    if (old == nullptr) return *this;
    return {&child, old_child, now, old};
  }
};

std::string dotted(const std::string& path, std::string_view name) {
  return path.empty() ? std::string{name} : path + '.' + std::string{name};
}

class RuleRunner {
 public:
  RuleRunner(RuleSet::Findings& findings, bool strict) : findings_(findings), strict_(strict) {}

  void visit(const RuleNode& node, const std::string& path, const Value& value, const Value* old,
             const Correlation& correlation) {
    if (value.is_null() || value.is_absent()) return;
    for (const Rule& rule : node.rules) evaluate(rule, node, path, value, old, correlation);
    if (value.is_array() && node.items != nullptr) {
      array(node, path, value, old, correlation);
    } else if (value.is_object()) {
      object(node, path, value, old, correlation);
    }
  }

 private:
  void object(const RuleNode& node, const std::string& path, const Value& value, const Value* old,
              const Correlation& correlation) {
    for (const auto& [name, child] : value.as_object()) {
      const Value* old_child = old == nullptr ? nullptr : member(*old, name.view());
      const Value* counterpart =
          correlation.old == nullptr ? nullptr : member(*correlation.old, name.view());
      // Both objects have the same type, so these fields cannot change.
      const bool is_type = path.empty() && (name.view() == "apiVersion" || name.view() == "kind");
      const Correlation below = is_type ? Correlation{} : correlation.below(child, counterpart);
      if (node.additional != nullptr) {
        visit(*node.additional, fmt::format("{}[{}]", path, name.view()), child, old_child, below);
      }
      const auto property = node.properties.find(name.view());
      if (property != node.properties.end()) {
        visit(*property->second, dotted(path, name.view()), child, old_child, below);
      }
    }
  }

  void array(const RuleNode& node, const std::string& path, const Value& value, const Value* old,
             const Correlation& correlation) {
    std::size_t i = 0;
    for (const Value& element : value.as_array()) {
      visit(*node.items, fmt::format("{}[{}]", path, i++), element, counterpart(node, old, element),
            correlation.below(element, counterpart(node, correlation.old, element)));
    }
  }

  /// Returns the element of a stored list with the same keys, or null unless the list type is map.
  const Value* counterpart(const RuleNode& node, const Value* list, const Value& element) {
    if (list == nullptr || !list->is_array() ||
        text_member(*node.schema, "x-kubernetes-list-type") != "map") {
      return nullptr;
    }
    auto& index = indexes_[list];
    if (index.empty()) {
      for (const Value& one : list->as_array()) index.emplace(key_of(node, one), &one);
    }
    const auto found = index.find(key_of(node, element));
    return found == index.end() ? nullptr : found->second;
  }

  static std::string key_of(const RuleNode& node, const Value& element) {
    std::string key;
    for (const Value& name : node.schema->get_array("x-kubernetes-list-map-keys")) {
      const Value* part = name.is_string() ? member(element, name.as_string()) : nullptr;
      key += (part == nullptr ? std::string{} : encode_json(*part)) + '\n';
    }
    return key;
  }

  void add(FieldError error) { findings_.errors.push_back(std::move(error)); }

  static std::string shown(const std::string& path) { return path.empty() ? "<nil>" : path; }

  void evaluate(const Rule& rule, const RuleNode& node, const std::string& path, const Value& value,
                const Value* old, const Correlation& correlation) {
    const std::string field = shown(path);
    const std::string_view type = text_member(*node.schema, "type");
    if (budget_ <= 0) {
      add(invalid_value(field, type, kOutOfBudget));
      throw BudgetSpent{};
    }
    if (!rule.program->issues().empty()) {
      add(invalid_value(field, type,
                        "rule compile error: compilation failed: " + rule.program->issues()));
      return;
    }
    if (const std::string missing = rule.missing(); !missing.empty()) {
      not_run(rule, field, type, missing);
      return;
    }
    if (rule.uses_old_self() && old == nullptr && !rule.optional_old_self) return;
    const Lookup variables = [&](std::string_view name) -> Val {
      if (name == "self") return from_document(value, node.type.get());
      if (!rule.optional_old_self) return from_document(*old, node.type.get());
      return old == nullptr ? Val::none() : Val::some(from_document(*old, node.type.get()));
    };
    const Outcome outcome = rule.program->run(variables);
    spend(outcome.cost, field, type);
    if (outcome.value.is_error()) {
      failed(rule, outcome, field, type);
    } else if (!outcome.value.is_true()) {
      violated(rule, variables, path, value, type, correlation);
    }
  }

  void spend(std::uint64_t cost, const std::string& field, std::string_view type) {
    budget_ -= static_cast<std::int64_t>(cost);
    if (budget_ >= 0) return;
    add(invalid_value(field, type, kOutOfBudget));
    throw BudgetSpent{};
  }

  void not_run(const Rule& rule, const std::string& field, std::string_view type,
               const std::string& missing) {
    const std::string text = not_evaluated(rule.expression, missing);
    if (strict_) {
      add(invalid_value(field, type, text));
    } else {
      findings_.warnings.push_back(field + ": " + text);
    }
  }

  void failed(const Rule& rule, const Outcome& outcome, const std::string& field,
              std::string_view type) {
    const std::string& error = outcome.value.message();
    if (outcome.exceeded) {
      add(invalid_value(
          field, type,
          fmt::format("'{}': no further validation rules will be run due to call cost "
                      "exceeds limit for rule: {}",
                      error, rule.title())));
      throw BudgetSpent{};
    }
    if (error.starts_with("no such overload")) {
      add(invalid_value(field, type,
                        fmt::format("'{}': call arguments did not match a supported operator, "
                                    "function or macro signature for rule: {}",
                                    error, rule.title())));
      return;
    }
    add(invalid_value(field, type, fmt::format("{} evaluating rule: {}", error, rule.title())));
  }

  void violated(const Rule& rule, const Lookup& variables, const std::string& path,
                const Value& value, std::string_view type, const Correlation& correlation) {
    const std::string field = shown(rule.field_path.empty() ? path : dotted(path, rule.field_path));
    std::string detail = message_of(rule, variables, field, type);
    if (detail.empty()) {
      detail = rule.message.empty() ? "failed rule: " + rule.title() : rule.title();
    }
    FieldError error = error_for(rule.reason, field, value, type, detail);
    if (!rule.uses_old_self() && correlation.unchanged()) {
      findings_.warnings.push_back(error.text());
    } else {
      add(std::move(error));
    }
  }

  /// Evaluates messageExpression. Returns an empty string if it is missing or unusable.
  std::string message_of(const Rule& rule, const Lookup& variables, const std::string& field,
                         std::string_view type) {
    if (rule.message_program == nullptr || !rule.message_program->issues().empty()) return {};
    const Outcome outcome = rule.message_program->run(variables);
    if (outcome.exceeded) {
      add(invalid_value(
          field, type,
          "no further validation rules will be run due to call cost exceeds limit for "
          "messageExpression: " +
              detail::quoted_go(rule.message_expression)));
      throw BudgetSpent{};
    }
    budget_ -= static_cast<std::int64_t>(outcome.cost);
    if (budget_ < 0) {
      add(invalid_value(field, type,
                        "messageExpression evaluation failed due to running out of cost budget, no "
                        "further validation rules will be run"));
      throw BudgetSpent{};
    }
    if (!outcome.value.is<Text>()) return {};
    const std::string_view text = trimmed(outcome.value.as_text());
    if (text.size() > kLongestMessage || text.find('\n') != std::string_view::npos) return {};
    return std::string{text};
  }

  /// Omits the value from the error if it is an object or a list.
  static FieldError error_for(const std::string& reason, const std::string& field,
                              const Value& value, std::string_view type,
                              const std::string& detail) {
    namespace cause = meta::v1::cause_type;
    const bool hidden = type == "object" || type == "array";
    if (reason == "FieldValueForbidden") return detail::forbidden_value(field, detail);
    if (reason == "FieldValueRequired") return detail::required_value(field, detail);
    if (reason == "FieldValueDuplicate") {
      if (!hidden) return detail::duplicate_value(field, value);
      return {std::string{cause::kFieldValueDuplicate}, field, "Duplicate value"};
    }
    if (!hidden) return invalid_value(field, value, detail);
    return {std::string{cause::kFieldValueInvalid}, field, "Invalid value: " + detail};
  }

  RuleSet::Findings& findings_;
  bool strict_;
  std::int64_t budget_ = kCostPerObject;
  std::map<const Value*, std::map<std::string, const Value*>> indexes_;
};

}  // namespace

RuleSet::Findings RuleSet::validate(const Value& object, const Value* old, bool strict) const {
  Findings findings;
  if (root_ == nullptr) return findings;
  try {
    RuleRunner{findings, strict}.visit(*root_, {}, object, old, {&object, old, nullptr, nullptr});
  } catch (const BudgetSpent&) {  // already reported
  }
  return findings;
}

}  // namespace kube::testkit::cel
