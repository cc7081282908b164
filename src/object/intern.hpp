// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/arena.hpp"
#include <kube/object/pool.hpp>
#include <kube/object/word.hpp>

#include <cstddef>
#include <string_view>

namespace kube::detail {

/// Returns the node of `pool` with this image, created if there is none; the caller owns one
/// reference. Equality is decided by comparing bytes, never by a hash alone.
[[nodiscard]] Node* intern(Pool& pool, const Arena::Image& image, std::size_t count,
                           Content content);
[[nodiscard]] Node* intern_text(Pool& pool, std::string_view text);

}  // namespace kube::detail
