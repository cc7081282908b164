// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/meter.hpp"
#include "testkit/cel/value.hpp"

#include <functional>
#include <optional>
#include <string_view>

namespace kube::testkit::cel {

/// The value of a variable; asked for only if the expression needs it.
using Lookup = std::function<Val(std::string_view name)>;

/// The value of a checked expression, or an error. Throws CostExceeded.
[[nodiscard]] Val evaluate(const Expr& expression, const Lookup& variables, Meter& meter);

}  // namespace kube::testkit::cel
