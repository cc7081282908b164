// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kube {

/// Limits on the input of a decoder. The defaults are far above what an API server sends, and low
/// enough that no document can exhaust the stack or take memory out of proportion to its size.
struct DecodeLimits {
  /// Depth of nested messages, objects and arrays.
  int max_depth = 200;
  /// Bytes of one string.
  std::size_t max_text = std::size_t{32} << 20;
  /// Bytes of one object in a list, or of one frame of a watch.
  std::size_t max_frame = std::size_t{32} << 20;
  /// Decoded bytes per byte of input, beyond the first 64 KiB. (`{}` is two bytes of input, but may
  /// be a struct of hundreds of bytes.)
  std::size_t max_expansion = 64;
};

}  // namespace kube
