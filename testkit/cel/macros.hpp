// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/source.hpp"

namespace kube::testkit::cel {

/// Expands a macro call such as has(x.y) or list.all(x, x > 0); returns other calls unchanged.
/// Returns null if the macro is used incorrectly, and sets `issue`.
[[nodiscard]] ExprPtr expand_macro(ExprPtr call, Issue& issue);

}  // namespace kube::testkit::cel
