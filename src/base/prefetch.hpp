// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kube::detail {

/// Lets the processor fetch memory that will be read soon, or its first 32 KiB, so that its lines arrive side by side
/// and not one after the other. A guess may be wrong: nothing is read, wherever `memory` points.
inline void prefetch(const void* memory, std::size_t size) noexcept {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kMost = std::size_t{32} << 10;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::size_t at = 0; at < std::min(size, kMost); at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
  }
}

}  // namespace kube::detail
