// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/source.hpp"

namespace kube::testkit::cel {

/// A call that turns out to be a macro, such as has(x.y) or list.all(x, x > 0), becomes what it stands for; other calls
/// come back as they are. Null if the macro is misused: `issue` says how.
[[nodiscard]] ExprPtr expand_macro(ExprPtr call, Issue& issue);

}  // namespace kube::testkit::cel
