// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kube::detail {

/// Empties a reusable string or vector. Releases its memory if it is more than `kept` bytes, so
/// that one large document does not cost memory for the lifetime of its reader.
template <typename Buffer>
void clear_buffer(Buffer& buffer, std::size_t kept = std::size_t{256} << 10) noexcept {
  if (buffer.capacity() * sizeof(typename Buffer::value_type) > kept) {
    buffer = Buffer{};
  } else {
    buffer.clear();
  }
}

}  // namespace kube::detail
