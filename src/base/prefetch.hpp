// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// Prefetches memory that will be read soon (at most its first 32 KiB), so that the cache misses
/// overlap. `memory` may be any address: nothing is dereferenced.
inline void prefetch(const void* memory, std::size_t size) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMost = std::size_t{32} << 10;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::size_t at = 0; at < std::min(size, kMost); at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
  }
}

}  // namespace kube::detail
