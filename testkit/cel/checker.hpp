// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/source.hpp"

#include <map>
#include <string>
#include <vector>

namespace kube::testkit::cel {

/// The variables of an expression, by name.
using Variables = std::map<std::string, TypePtr, std::less<>>;

/// The result of type checking.
struct Checked {
  std::vector<Issue> issues;
  /// Functions that the real server has and that are missing here.
  std::vector<std::string> missing;
  /// The names of variables that the expression uses.
  std::vector<std::string> used;
};

/// Gives a type to each part of the expression, and tells what does not fit. Afterwards names with dots, such as
/// `optional.of`, are the names of calls and types.
[[nodiscard]] Checked check(Expr& expression, const Variables& variables);

}  // namespace kube::testkit::cel
