// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/ast.hpp"
#include "testkit/cel/schema_sizes.hpp"

#include <cstdint>

namespace kube::testkit::cel {

/// Returns the most that a checked expression about a value of these sizes can cost, in the units
/// and by the rules of a real server, which refuses a definition with expensive rules (CE-12).
/// UINT64_MAX means without bound.
[[nodiscard]] std::uint64_t estimate_cost(const Expr& expression, const SchemaSizes& self);

/// Arithmetic that ends at UINT64_MAX.
[[nodiscard]] std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) noexcept;
[[nodiscard]] std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept;

}  // namespace kube::testkit::cel
