// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/arena.hpp"
#include <kube/object/type.hpp>

#include <cstddef>

namespace kube::detail {

/// What freeze_into does with content that stands in a pool node.
enum class Nodes { kShare, kCopy };

/// Copies the value at `from` to `to`, zeroed memory in `arena`, with everything it holds. Nodes of a
/// pool are shared, or copied where the result must stand alone.
void freeze_into(Arena& arena, const Type& type, std::byte* to, const std::byte* from,
                 Nodes nodes = Nodes::kShare);

}  // namespace kube::detail
