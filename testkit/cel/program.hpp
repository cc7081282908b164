// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/checker.hpp"
#include "testkit/cel/evaluator.hpp"
#include "testkit/cel/schema_sizes.hpp"
#include "testkit/cel/value.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// Cost limits of the real server: per expression, and for all expressions about one object
/// together.
inline constexpr std::uint64_t kCostPerExpression = 1'000'000;
inline constexpr std::int64_t kCostPerObject = 10'000'000;
/// Cost limit of all match conditions about one object together.
inline constexpr std::int64_t kCostOfConditions = 2'500'000;

/// The result of an evaluation.
struct Outcome {
  Val value;
  std::uint64_t cost = 0;
  /// The evaluation was aborted because it exceeded its cost limit; `value` is the error that
  /// reports this.
  bool exceeded = false;
};

/// A parsed and type-checked expression.
/// Thread safety: immutable; may be used from any thread.
class Program {
 public:
  /// Compiles `source`. Check issues() before using the program.
  Program(std::string_view source, const Variables& variables,
          Constructible constructible = Constructible::kNothing);

  /// The compilation errors, formatted like those of the real server; empty if there are none.
  [[nodiscard]] const std::string& issues() const { return issues_; }
  /// Names of functions of the real server that are not implemented here.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] bool uses(std::string_view variable) const;
  /// The static type of the result.
  [[nodiscard]] const Type& type() const { return *root_->type; }

  /// Returns the most that an evaluation can cost; see estimate_cost(). Requires issues() to be
  /// empty.
  [[nodiscard]] std::uint64_t estimate(const SchemaSizes& self) const;

  /// Evaluates the program. Requires issues() and missing() to be empty.
  [[nodiscard]] Outcome run(const Lookup& variables,
                            std::uint64_t cost_limit = kCostPerExpression) const;

 private:
  std::shared_ptr<const Expr> root_;
  std::string issues_;
  std::vector<std::string> missing_;
  std::vector<std::string> used_;
};

}  // namespace kube::testkit::cel
