// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/cost_limits.hpp"
#include "testkit/cel/program.hpp"

#include "testkit/validation/field_error.hpp"

#include <kube/object/value.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Validation rules of custom resources: x-kubernetes-validations.
namespace kube::testkit::cel {

/// One entry of x-kubernetes-validations, compiled.
struct Rule {
  std::string expression;
  std::string message;
  std::string message_expression;
  std::string reason;
  std::string field_path;  ///< "a.b", as shown in messages; empty if none is given
  bool optional_old_self = false;
  std::shared_ptr<const Program> program = nullptr;
  std::shared_ptr<const Program> message_program = nullptr;

  [[nodiscard]] bool uses_old_self() const { return program->uses("oldSelf"); }
  /// Returns the first function that is not implemented here; empty if there is none.
  [[nodiscard]] std::string missing() const;
  /// Returns the rule's name in messages: its message, or its expression.
  [[nodiscard]] std::string title() const;
};

/// Compiles one entry of x-kubernetes-validations for values of `type`.
[[nodiscard]] Rule compile_rule(const Value& entry, const Value& schema, const TypePtr& type);

/// Converts a field path such as ".spec['x']" to the form used in messages. Returns nothing if the
/// schema has no such field.
[[nodiscard]] std::optional<std::string> normalize_field_path(std::string_view path,
                                                              const Value& schema);

/// A rule that cannot be evaluated here, and its location.
struct MissingRule {
  std::string field;  ///< "spec.versions[0]...x-kubernetes-validations[0].rule"
  std::string expression;
  std::string function;
};

/// Checks the rules in a structural schema (CE-6, CE-12). `field` is the location of the schema.
/// Rules that cannot be evaluated here are appended to `missing`.
[[nodiscard]] std::vector<detail::FieldError> check_rules(const Value& schema,
                                                          std::string_view field, CostLimits limits,
                                                          std::vector<MissingRule>& missing);

/// The rules of a schema node and of its descendants.
struct RuleNode {
  const Value* schema = nullptr;
  TypePtr type = nullptr;
  std::vector<Rule> rules = {};
  std::unique_ptr<RuleNode> items = nullptr;
  std::unique_ptr<RuleNode> additional = nullptr;
  std::map<std::string, std::unique_ptr<RuleNode>, std::less<>> properties = {};
};

/// All rules of one version of a custom resource.
/// Thread safety: immutable; may be used from any thread.
class RuleSet {
 public:
  /// `schema` must outlive the set. A rule that does not compile is reported for each object.
  explicit RuleSet(const Value& schema);

  [[nodiscard]] bool empty() const { return root_ == nullptr; }

  struct Findings {
    std::vector<detail::FieldError> errors;
    /// Violations in parts that an update did not change (CE-9), and rules that were not evaluated
    /// (CE-11).
    std::vector<std::string> warnings;
  };
  /// Validates an object. `old` is the stored object on update, else null. If `strict`, rules that
  /// cannot be evaluated are errors.
  [[nodiscard]] Findings validate(const Value& object, const Value* old, bool strict) const;

 private:
  std::unique_ptr<RuleNode> root_;
};

/// Returns the warning about a rule that was not evaluated.
[[nodiscard]] std::string not_evaluated(std::string_view expression, std::string_view function);

}  // namespace kube::testkit::cel
