// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/policy.hpp"

#include "testkit/cel/characters.hpp"
#include "testkit/cel/object_literal.hpp"

#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace kube::testkit::cel {

namespace {

using detail::text_member;

constexpr const char* kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";
constexpr std::size_t kLongestMessage = 5 * 1024;

TypePtr simple(TypeKind kind) { return simple_type(kind); }

TypePtr object_of(std::string_view name,
                  std::initializer_list<std::pair<const char*, TypePtr>> fields) {
  Type type;
  type.kind = TypeKind::kObject;
  type.name = name;
  for (const auto& [field, field_type] : fields)
    type.fields.emplace(field, Type::Field{field_type, field});
  return std::make_shared<const Type>(std::move(type));
}

const TypePtr& request_type() {
  static const TypePtr kType = [] {
    const TypePtr text = simple(TypeKind::kString);
    const TypePtr kind = object_of("kubernetes.GroupVersionKind",
                                   {{"group", text}, {"version", text}, {"kind", text}});
    const TypePtr resource = object_of("kubernetes.GroupVersionResource",
                                       {{"group", text}, {"version", text}, {"resource", text}});
    const TypePtr user =
        object_of("kubernetes.UserInfo", {{"username", text},
                                          {"uid", text},
                                          {"groups", list_type(text)},
                                          {"extra", map_type(text, list_type(text))}});
    return object_of("kubernetes.AdmissionRequest", {{"kind", kind},
                                                     {"resource", resource},
                                                     {"subResource", text},
                                                     {"requestKind", kind},
                                                     {"requestResource", resource},
                                                     {"requestSubResource", text},
                                                     {"name", text},
                                                     {"namespace", text},
                                                     {"operation", text},
                                                     {"userInfo", user},
                                                     {"dryRun", simple(TypeKind::kBool)},
                                                     {"options", simple(TypeKind::kDyn)}});
  }();
  return kType;
}

/// The type of `namespaceObject`. The fields are those of a real server, with its spelling of UID.
const TypePtr& namespace_type() {
  static const TypePtr kType = [] {
    const TypePtr text = simple(TypeKind::kString);
    const TypePtr number = simple(TypeKind::kInt);
    const TypePtr time = simple(TypeKind::kTimestamp);
    const TypePtr texts = list_type(text);
    const TypePtr metadata =
        object_of("kubernetes.NamespaceMetadata", {{"name", text},
                                                   {"generateName", text},
                                                   {"namespace", text},
                                                   {"labels", map_type(text, text)},
                                                   {"annotations", map_type(text, text)},
                                                   {"UID", text},
                                                   {"creationTimestamp", time},
                                                   {"deletionGracePeriodSeconds", number},
                                                   {"deletionTimestamp", time},
                                                   {"generation", number},
                                                   {"resourceVersion", text},
                                                   {"finalizers", texts}});
    const TypePtr condition =
        object_of("kubernetes.NamespaceCondition", {{"status", text},
                                                    {"type", text},
                                                    {"lastTransitionTime", time},
                                                    {"message", text},
                                                    {"reason", text}});
    return object_of(
        "kubernetes.Namespace",
        {{"metadata", metadata},
         {"spec", object_of("kubernetes.NamespaceSpec", {{"finalizers", texts}})},
         {"status", object_of("kubernetes.NamespaceStatus",
                              {{"conditions", list_type(condition)}, {"phase", text}})}});
  }();
  return kType;
}

Variables variables_of_requests(bool has_params) {
  Variables variables{{"object", simple(TypeKind::kDyn)},
                      {"oldObject", simple(TypeKind::kDyn)},
                      {"request", request_type()},
                      {"namespaceObject", namespace_type()},
                      {"authorizer", simple(TypeKind::kDyn)}};
  if (has_params) variables.emplace("params", simple(TypeKind::kDyn));
  return variables;
}

Val value_of(const AdmissionInput& input, std::string_view name) {
  if (name == "object") return from_document(input.object, nullptr);
  if (name == "oldObject") return from_document(input.old_object, nullptr);
  if (name == "request") return from_document(input.request, request_type().get());
  if (name == "params") return from_document(input.params, nullptr);
  if (name == "namespaceObject") {
    return from_document(input.namespace_object, namespace_type().get());
  }
  return Val::error(fmt::format("no such attribute(s): {}", name));
}

std::string failure_of(std::string_view expression, const Val& error) {
  return fmt::format("expression '{}' resulted in error: {}", expression, error.message());
}

}  // namespace

std::vector<MatchCondition> compile_conditions(const Value& conditions, bool has_params) {
  std::vector<MatchCondition> compiled;
  if (!conditions.is_array()) return compiled;
  for (const Value& condition : conditions.as_array()) {
    std::string expression{text_member(condition, "expression")};
    auto program = std::make_shared<const Program>(expression, variables_of_requests(has_params));
    compiled.push_back(
        {std::string{text_member(condition, "name")}, std::move(expression), std::move(program)});
  }
  return compiled;
}

MatchResult match(const std::vector<MatchCondition>& conditions, const AdmissionInput& input) {
  std::int64_t budget = kCostOfConditions;
  std::vector<std::string> errors;
  for (const MatchCondition& condition : conditions) {
    const Outcome outcome =
        condition.program->run([&](std::string_view name) { return value_of(input, name); });
    budget -= static_cast<std::int64_t>(outcome.cost);
    if (budget < 0) return {true, kOutOfBudget};
    if (outcome.value.is_error()) {
      errors.push_back(failure_of(condition.expression, outcome.value));
    } else if (!outcome.value.is_true()) {
      return {false, {}};
    }
  }
  if (errors.empty()) return {};
  if (errors.size() == 1) return {true, errors.front()};
  std::string all;
  for (const std::string& error : errors) all += (all.empty() ? "[" : ", ") + error;
  return {true, all + ']'};
}

void Policy::add_expression(const std::string& field, const std::string& expression,
                            const Program& program, std::string_view type) {
  if (!program.issues().empty()) {
    errors_.push_back(
        detail::invalid_value(field, expression, "compilation failed: " + program.issues()));
  } else if (!program.missing().empty()) {
    missing_.push_back({field, expression, program.missing().front()});
  } else if (!type.empty() && to_string(program.type()) != type) {
    errors_.push_back(detail::invalid_value(
        field, expression,
        fmt::format("must evaluate to {} but got {}", type, to_string(program.type()))));
  }
}

Policy::Policy(const Value& policy) {
  const Value& spec = policy["spec"];
  const bool has_params = spec["paramKind"].is_object();
  fails_on_error_ = text_member(spec, "failurePolicy") != "Ignore";
  conditions_ = compile_conditions(spec["matchConditions"], has_params);
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    add_expression(fmt::format("spec.matchConditions[{}].expression", i), conditions_[i].expression,
                   *conditions_[i].program, "bool");
  }
  Variables variables = variables_of_requests(has_params);
  // Each variable can refer to the variables before it.
  Type known;
  known.kind = TypeKind::kObject;
  known.name = "kubernetes.variables";
  if (!policy.get_array("spec.variables").empty()) {
    variables["variables"] = std::make_shared<const Type>(known);
  }
  for (const Value& entry : policy.get_array("spec.variables")) {
    Variable variable{std::string{text_member(entry, "name")},
                      std::string{text_member(entry, "expression")}, nullptr};
    variable.program = std::make_shared<const Program>(variable.expression, variables);
    add_expression(fmt::format("spec.variables[{}].expression", variables_.size()),
                   variable.expression, *variable.program, "");
    const bool valid = variable.program->issues().empty();
    known.fields.insert_or_assign(
        variable.name, Type::Field{valid ? std::make_shared<const Type>(variable.program->type())
                                         : simple(TypeKind::kDyn),
                                   variable.name});
    variables["variables"] = std::make_shared<const Type>(known);
    variables_.push_back(std::move(variable));
  }
  for (const Value& entry : policy.get_array("spec.validations")) {
    Validation validation;
    validation.expression = text_member(entry, "expression");
    validation.message = text_member(entry, "message");
    validation.reason = text_member(entry, "reason");
    const std::string field = fmt::format("spec.validations[{}]", validations_.size());
    validation.program = std::make_shared<const Program>(validation.expression, variables);
    add_expression(field + ".expression", validation.expression, *validation.program, "bool");
    const std::string message{text_member(entry, "messageExpression")};
    if (!message.empty()) {
      validation.message_program = std::make_shared<const Program>(message, variables);
      add_expression(field + ".messageExpression", message, *validation.message_program, "string");
    }
    validations_.push_back(std::move(validation));
  }
  std::size_t i = 0;
  for (const Value& entry : policy.get_array("spec.auditAnnotations")) {
    const std::string field = fmt::format("spec.auditAnnotations[{}].valueExpression", i++);
    const std::string expression{text_member(entry, "valueExpression")};
    const Program program{expression, variables};
    add_expression(field, expression, program, "");
    if (!program.issues().empty() || !program.missing().empty()) continue;
    const TypeKind kind = program.type().kind;
    if (kind == TypeKind::kString || kind == TypeKind::kNull) continue;
    errors_.push_back(
        detail::invalid_value(field, expression,
                              fmt::format("must evaluate to one of [string null_type] but got {}",
                                          to_string(program.type()))));
  }
  for (const Value& entry : policy.get_array("spec.mutations")) {
    Mutation mutation;
    mutation.is_json_patch = text_member(entry, "patchType") == "JSONPatch";
    const char* const member = mutation.is_json_patch ? "jsonPatch" : "applyConfiguration";
    mutation.expression = text_member(entry[member], "expression");
    mutation.program =
        std::make_shared<const Program>(mutation.expression, variables, Constructible::kPatches);
    add_expression(fmt::format("spec.mutations[{}].{}.expression", mutations_.size(), member),
                   mutation.expression, *mutation.program,
                   mutation.is_json_patch ? "list(JSONPatch)" : "Object");
    mutations_.push_back(std::move(mutation));
  }
}

/// One evaluation of a policy.
class Policy::Run {
 public:
  Run(const Policy& policy, const AdmissionInput& input) : policy_(policy), input_(input) {}

  std::vector<Denial> evaluate() {
    const MatchResult matched = match(policy_.conditions_, input_);
    if (!matched.error.empty()) return failed(matched.error);
    if (!matched.matches) return {};
    evaluate_variables();
    std::vector<Denial> denials;
    for (const Validation& validation : policy_.validations_) {
      const Outcome outcome = run(*validation.program);
      if (budget_ < 0) return failed(kOutOfBudget);
      if (outcome.value.is_error()) {
        if (policy_.fails_on_error_)
          denials.push_back({failure_of(validation.expression, outcome.value), ""});
      } else if (!outcome.value.is_true()) {
        denials.push_back(
            {message_of(validation), validation.reason.empty() ? "Invalid" : validation.reason});
      }
    }
    return denials;
  }

  Patch patch(const Mutation& mutation) {
    evaluate_variables();
    const Val result = run(*mutation.program).value;
    if (budget_ < 0) return {.error = kOutOfBudget};
    if (result.is_error()) return {.error = failure_of(mutation.expression, result)};
    if (const std::string wrong = misplaced_type(result); !wrong.empty()) {
      return {.error = "type mismatch: " + wrong};
    }
    try {
      return {.content = to_document(result), .is_json_patch = mutation.is_json_patch};
    } catch (const std::invalid_argument& error) {
      return {.error = error.what()};
    }
  }

 private:
  void evaluate_variables() {
    auto variables = std::make_shared<MapData>();
    variables_ = variables;
    for (const Variable& variable : policy_.variables_) {
      // An error in a variable is reported only if the variable is used.
      Val value = run(*variable.program).value;
      Val key = Val::text(variable.name);
      variables->entries.insert_or_assign(key_text(key), std::pair{key, std::move(value)});
    }
  }

  std::vector<Denial> failed(const std::string& error) const {
    if (!policy_.fails_on_error_) return {};
    return {Denial{error, ""}};
  }

  Outcome run(const Program& program) {
    Outcome outcome = program.run([&](std::string_view name) {
      return name == "variables" ? Val{variables_} : value_of(input_, name);
    });
    budget_ -= static_cast<std::int64_t>(outcome.cost);
    return outcome;
  }

  std::string message_of(const Validation& validation) {
    if (validation.message_program != nullptr) {
      const Outcome outcome = run(*validation.message_program);
      if (outcome.value.is<Text>()) {
        const std::string text{trimmed(outcome.value.as_text())};
        const bool fits = text.size() <= kLongestMessage && text.find('\n') == std::string::npos;
        if (!text.empty() && fits) return text;
      }
    }
    if (!validation.message.empty()) return std::string{trimmed(validation.message)};
    return "failed expression: " + std::string{trimmed(validation.expression)};
  }

  const Policy& policy_;
  const AdmissionInput& input_;
  MapPtr variables_;
  std::int64_t budget_ = kCostPerObject;
};

std::vector<Policy::Denial> Policy::evaluate(const AdmissionInput& input) const {
  return Run{*this, input}.evaluate();
}

Policy::Patch Policy::mutation(std::size_t index, const AdmissionInput& input) const {
  return Run{*this, input}.patch(mutations_[index]);
}

}  // namespace kube::testkit::cel
