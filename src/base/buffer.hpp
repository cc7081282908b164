// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kube::detail {

/// Empties a string or vector that is to be filled again, and releases its memory if that is more than `kept` bytes:
/// one large document must not cost memory for as long as its reader lives.
template <typename Buffer>
void clear_buffer(Buffer& buffer, std::size_t kept = std::size_t{256} << 10) noexcept {
  if (buffer.capacity() * sizeof(typename Buffer::value_type) > kept) {
    buffer = Buffer{};
  } else {
    buffer.clear();
  }
}

}  // namespace kube::detail
