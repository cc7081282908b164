// SPDX-License-Identifier: Apache-2.0
#include <kube/api/label_selector.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kube {

namespace {

namespace names = meta::v1::label_selector_operator;

labels::Operator operator_of(const meta::v1::LabelSelectorRequirement& requirement) {
  if (requirement.operator_ == names::kIn) return labels::Operator::kIn;
  if (requirement.operator_ == names::kNotIn) return labels::Operator::kNotIn;
  if (requirement.operator_ == names::kExists) return labels::Operator::kExists;
  if (requirement.operator_ == names::kDoesNotExist) return labels::Operator::kDoesNotExist;
  throw std::invalid_argument("label \"" + requirement.key.str() + "\": \"" +
                              requirement.operator_.str() +
                              "\" is not an operator of a label selector");
}

}  // namespace

labels::Selector to_selector(const meta::v1::LabelSelector& selector) {
  std::vector<labels::Requirement> requirements;
  for (const auto& [key, value] : selector.match_labels) {
    requirements.push_back({key.str(), labels::Operator::kEquals, {value.str()}});
  }
  for (const meta::v1::LabelSelectorRequirement& expression : selector.match_expressions) {
    labels::Requirement requirement{expression.key.str(), operator_of(expression), {}};
    for (const String& value : expression.values) requirement.values.push_back(value.str());
    requirements.push_back(std::move(requirement));
  }
  return labels::Selector{std::move(requirements)};
}

labels::Selector to_selector(const Box<meta::v1::LabelSelector>& selector) {
  return selector ? to_selector(*selector) : labels::Selector::nothing();
}

meta::v1::LabelSelector to_label_selector(const labels::Selector& selector) {
  if (selector.matches_nothing()) {
    throw std::invalid_argument("a LabelSelector cannot express a selector that matches nothing");
  }
  meta::v1::LabelSelector result;
  for (const labels::Requirement& requirement : selector.requirements()) {
    std::string_view name;
    switch (requirement.op) {
      case labels::Operator::kEquals:
      case labels::Operator::kDoubleEquals:
        if (!result.match_labels.contains(requirement.key)) {
          result.match_labels[requirement.key] = requirement.values.front();
          continue;
        }
        name = names::kIn;
        break;
      case labels::Operator::kIn:
        name = names::kIn;
        break;
      case labels::Operator::kNotEquals:
      case labels::Operator::kNotIn:
        name = names::kNotIn;
        break;
      case labels::Operator::kExists:
        name = names::kExists;
        break;
      case labels::Operator::kDoesNotExist:
        name = names::kDoesNotExist;
        break;
      case labels::Operator::kGreaterThan:
      case labels::Operator::kLessThan:
        throw std::invalid_argument("label \"" + requirement.key +
                                    "\": a label selector has no operator " +
                                    std::string{labels::symbol(requirement.op)});
    }
    meta::v1::LabelSelectorRequirement expression{.key = requirement.key, .operator_ = name};
    for (const std::string& value : requirement.values) expression.values.push_back(value);
    result.match_expressions.push_back(std::move(expression));
  }
  return result;
}

}  // namespace kube
