// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube {

/// Where code of the user is called.
enum class Delivery : std::uint8_t {
  kQueued,  ///< by a worker, one call at a time; it may block
  kInline,  ///< by the thread that has the news, mostly that of the loop: quicker, but it must not wait for anything
};

}  // namespace kube
