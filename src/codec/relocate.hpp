// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/arena.hpp"
#include <kube/object/type.hpp>

#include <cstddef>

namespace kube::detail {

/// Sorts the entries of a map; the last of several equal keys wins. Returns the number of entries
/// that remain. Moves nothing if the entries are already sorted.
std::size_t sort_entries(Arena& arena, std::byte*& entries, std::size_t count, std::size_t stride,
                         const Type& value_type);

/// Moves the value in a slot of a list or map to another slot of the same arena.
void relocate_slot(Arena& arena, const Type& element, std::byte* to, const std::byte* from);

}  // namespace kube::detail
