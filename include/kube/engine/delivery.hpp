// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube {

/// Selects the thread that calls user code.
enum class Delivery : std::uint8_t {
  kQueued,  ///< on a worker, one call at a time; the code may block
  /// On the thread that has the event, mostly the loop's: lower latency, but the code must not
  /// wait.
  kInline,
};

}  // namespace kube
