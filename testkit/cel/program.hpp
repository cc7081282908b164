// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/checker.hpp"
#include "testkit/cel/evaluator.hpp"
#include "testkit/cel/value.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// What one expression may cost, and all expressions about one object together: the limits of the real server.
inline constexpr std::uint64_t kCostPerExpression = 1'000'000;
inline constexpr std::int64_t kCostPerObject = 10'000'000;
/// All match conditions about one object together.
inline constexpr std::int64_t kCostOfConditions = 2'500'000;

/// The result of an evaluation.
struct Outcome {
  Val value;
  std::uint64_t cost = 0;
  /// The expression was ended because it cost too much; `value` is the error that says so.
  bool exceeded = false;
};

/// An expression that was parsed and checked.
/// Thread safety: immutable; may be used from any thread.
class Program {
 public:
  /// Compiles `source`; look at issues() before anything else.
  Program(std::string_view source, const Variables& variables);

  /// What is wrong, as the real server shows it; empty if all is well.
  [[nodiscard]] const std::string& issues() const { return issues_; }
  /// Names of functions that cannot be evaluated here although the real server has them.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] bool uses(std::string_view variable) const;
  /// The type of the result.
  [[nodiscard]] const Type& type() const { return *root_->type; }

  /// Needs a program without issues that misses nothing.
  [[nodiscard]] Outcome run(const Lookup& variables,
                            std::uint64_t cost_limit = kCostPerExpression) const;

 private:
  std::shared_ptr<const Expr> root_;
  std::string issues_;
  std::vector<std::string> missing_;
  std::vector<std::string> used_;
};

}  // namespace kube::testkit::cel
