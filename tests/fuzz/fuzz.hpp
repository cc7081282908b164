// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kube::fuzz {

/// Aborts the run with a finding; assert() is disabled in optimised builds.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Splits `text` into chunks whose sizes depend on the text, and passes them on one by one.
template <typename Feed>
void in_chunks(std::string_view text, unsigned seed, Feed feed) {
  while (!text.empty()) {
    seed = seed * 1664525 + 1013904223;
    const std::size_t size = 1 + (seed >> 16) % 61;
    feed(text.substr(0, size));
    text.remove_prefix(size < text.size() ? size : text.size());
  }
}

}  // namespace kube::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
