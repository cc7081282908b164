// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube {

/// On which threads code of the program is called.
enum class Delivery : std::uint8_t {
  kQueued,  ///< on workers, in a queue of its own: it may block
  kInline,  ///< where the library is, mostly the loop's thread: it must not block
};

}  // namespace kube
