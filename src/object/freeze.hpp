// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/arena.hpp"
#include <kube/object/type.hpp>

#include <cstddef>

namespace kube::detail {

/// How freeze_into() treats content in pool nodes.
enum class Nodes { kShare, kCopy };

/// Copies the value at `from`, with all its content, to `to`, which is zeroed memory in `arena`.
/// Pool nodes are shared, or copied if the result must be independent of the pool.
void freeze_into(Arena& arena, const Type& type, std::byte* to, const std::byte* from,
                 Nodes nodes = Nodes::kShare);

}  // namespace kube::detail
