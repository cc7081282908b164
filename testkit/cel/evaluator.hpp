// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/meter.hpp"
#include "testkit/cel/value.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace kube::testkit::cel {

/// Returns the value of a variable. Called lazily, only for variables that the evaluation reads.
using Lookup = std::function<Val(std::string_view name)>;

/// Evaluates a checked expression to a value or an error. Throws CostExceeded.
[[nodiscard]] Val evaluate(const Expr& expression, const Lookup& variables, Meter& meter);

}  // namespace kube::testkit::cel
