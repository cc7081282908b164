// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/program.hpp"
#include "testkit/cel/rules.hpp"

#include "testkit/validation/field_error.hpp"

#include <kube/object/value.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// The variables available to the expressions of a policy or to the match conditions of a webhook.
/// Absent values are null.
struct AdmissionInput {
  const Value& object;
  const Value& old_object;
  const Value& request;  ///< see admission_request()
  const Value& params;
  const Value& namespace_object;
};

/// A named condition on requests: an entry of matchConditions of a policy or webhook.
struct MatchCondition {
  std::string name;
  std::string expression;
  std::shared_ptr<const Program> program;
};

/// The combined result of the match conditions for a request.
struct MatchResult {
  bool matches = true;
  std::string error;  ///< an evaluation error; empty if another condition was false
};

[[nodiscard]] std::vector<MatchCondition> compile_conditions(const Value& conditions,
                                                             bool has_params);
[[nodiscard]] MatchResult match(const std::vector<MatchCondition>& conditions,
                                const AdmissionInput& input);

/// A ValidatingAdmissionPolicy or MutatingAdmissionPolicy, compiled.
/// Thread safety: immutable; may be used from any thread.
class Policy {
 public:
  explicit Policy(const Value& policy);

  /// Compilation errors, with the field paths of the policy.
  [[nodiscard]] const std::vector<detail::FieldError>& errors() const { return errors_; }
  /// Expressions that cannot be evaluated here because they use unimplemented functions.
  [[nodiscard]] const std::vector<MissingRule>& missing() const { return missing_; }

  /// A validation that was violated.
  struct Denial {
    std::string message;
    std::string reason;  ///< "Invalid" etc.; empty after an evaluation error
  };
  /// Returns the validations that a request violates. Requires errors() and missing() to be empty.
  [[nodiscard]] std::vector<Denial> evaluate(const AdmissionInput& input) const;

  /// The result of a mutation.
  struct Patch {
    Value content = {};  ///< an apply configuration, or a JSON patch
    bool is_json_patch = false;
    std::string error = {};  ///< an evaluation error; empty if there is none
  };
  /// Returns the number of mutations.
  [[nodiscard]] std::size_t mutations() const { return mutations_.size(); }
  /// Evaluates the match conditions.
  [[nodiscard]] MatchResult matches(const AdmissionInput& input) const {
    return match(conditions_, input);
  }
  /// Evaluates a mutation. Requires errors() and missing() to be empty.
  [[nodiscard]] Patch mutation(std::size_t index, const AdmissionInput& input) const;

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
  struct Mutation {
    bool is_json_patch = false;
    std::string expression;
    std::shared_ptr<const Program> program;
  };
  class Run;

  /// `type` is the type that the expression has to have; any if it is empty.
  void add_expression(const std::string& field, const std::string& expression,
                      const Program& program, std::string_view type);

  bool fails_on_error_ = true;
  std::vector<MatchCondition> conditions_;
  std::vector<Variable> variables_;
  std::vector<Validation> validations_;
  std::vector<Mutation> mutations_;
  std::vector<detail::FieldError> errors_;
  std::vector<MissingRule> missing_;
};

}  // namespace kube::testkit::cel
