// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/source.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kube::testkit::cel {

/// The variables of an expression, by name.
using Variables = std::map<std::string, TypePtr, std::less<>>;

/// The result of type checking.
struct Checked {
  std::vector<Issue> issues;
  /// Functions of the real server that are not implemented here.
  std::vector<std::string> missing;
  /// Names of the variables that the expression uses.
  std::vector<std::string> used;
};

/// The types that an expression can construct.
enum class Constructible : std::uint8_t {
  kNothing,
  kPatches,  ///< Object, Object.spec..., and JSONPatch, for mutating policies
};

/// Assigns a type to each node of the expression and reports type errors. Afterwards qualified
/// names such as `optional.of` are resolved to the names of calls and types.
[[nodiscard]] Checked check(Expr& expression, const Variables& variables,
                            Constructible constructible = Constructible::kNothing);

}  // namespace kube::testkit::cel
