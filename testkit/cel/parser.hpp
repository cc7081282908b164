// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/source.hpp"

#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// Parses `source` and expands macros. Returns null on a syntax error, which is reported in
/// `issues`.
[[nodiscard]] ExprPtr parse(std::string_view source, std::vector<Issue>& issues);

}  // namespace kube::testkit::cel
