// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/program.hpp"

#include "testkit/cel/cost_estimate.hpp"
#include "testkit/cel/parser.hpp"
#include "testkit/cel/source.hpp"

#include <algorithm>
#include <utility>

namespace kube::testkit::cel {

Program::Program(std::string_view source, const Variables& variables, Constructible constructible) {
  std::vector<Issue> issues;
  ExprPtr root = parse(source, issues);
  if (root != nullptr) {
    Checked checked = check(*root, variables, constructible);
    issues = std::move(checked.issues);
    missing_ = std::move(checked.missing);
    used_ = std::move(checked.used);
    root_ = std::move(root);
  }
  if (!issues.empty()) issues_ = show_issues(source, std::move(issues));
}

bool Program::uses(std::string_view variable) const {
  return std::ranges::find(used_, variable) != used_.end();
}

std::uint64_t Program::estimate(const SchemaSizes& self) const {
  return estimate_cost(*root_, self);
}

Outcome Program::run(const Lookup& variables, std::uint64_t cost_limit) const {
  Meter meter{cost_limit};
  try {
    Val value = evaluate(*root_, variables, meter);
    return {std::move(value), meter.cost(), false};
  } catch (const CostExceeded&) {
    return {Val::error("operation cancelled: actual cost limit exceeded"), meter.cost(), true};
  }
}

}  // namespace kube::testkit::cel
