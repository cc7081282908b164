// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/program.hpp"
#include "testkit/cel/rules.hpp"

#include "testkit/validation/field_error.hpp"

#include <kube/object/value.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kube::testkit::cel {

/// What the expressions of a policy, or the match conditions of a webhook, can speak of. Absent values are null to them.
struct AdmissionInput {
  const Value& object;
  const Value& old_object;
  const Value& request;  ///< see admission_request()
  const Value& params;
  const Value& namespace_object;
};

/// A condition on requests, by name: matchConditions of policies and webhooks.
struct MatchCondition {
  std::string name;
  std::string expression;
  std::shared_ptr<const Program> program;
};

/// The verdict of the match conditions on a request.
struct MatchResult {
  bool matches = true;
  std::string error;  ///< of an evaluation, if none of the others was false
};

[[nodiscard]] std::vector<MatchCondition> compile_conditions(const Value& conditions,
                                                             bool has_params);
[[nodiscard]] MatchResult match(const std::vector<MatchCondition>& conditions,
                                const AdmissionInput& input);

/// A ValidatingAdmissionPolicy, compiled.
/// Thread safety: immutable; may be used from any thread.
class Policy {
 public:
  explicit Policy(const Value& policy);

  /// What does not compile, with the fields of the policy.
  [[nodiscard]] const std::vector<detail::FieldError>& errors() const { return errors_; }
  /// Expressions that cannot be evaluated here.
  [[nodiscard]] const std::vector<MissingRule>& missing() const { return missing_; }

  /// A validation that does not hold.
  struct Denial {
    std::string message;
    std::string reason;  ///< "Invalid" and the like; empty after an error
  };
  /// What a request violates. Needs a policy without errors that misses nothing.
  [[nodiscard]] std::vector<Denial> evaluate(const AdmissionInput& input) const;

 private:
  struct Variable {
    std::string name;
    std::string expression;
    std::shared_ptr<const Program> program;
  };
  struct Validation {
    std::string expression;
    std::string message;
    std::string reason;
    std::shared_ptr<const Program> program;
    std::shared_ptr<const Program> message_program;
  };
  class Run;

  void add_expression(const std::string& field, const std::string& expression,
                      const Program& program, TypeKind wanted);

  bool fails_on_error_ = true;
  std::vector<MatchCondition> conditions_;
  std::vector<Variable> variables_;
  std::vector<Validation> validations_;
  std::vector<detail::FieldError> errors_;
  std::vector<MissingRule> missing_;
};

}  // namespace kube::testkit::cel
