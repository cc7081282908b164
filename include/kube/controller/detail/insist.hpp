// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <thread>
#include <utility>

namespace kube::detail {

/// Calls `action`, and again if it throws std::bad_alloc: for operations that must not be lost
/// during a short lack of memory, such as returning a request to its queue. Rethrows after 1000
/// tries.
template <typename Action>
void insist(const Action& action) {
  constexpr int kTries = 1000;
  for (int tries = 1;; ++tries) {
    try {
      return action();
    } catch (const std::bad_alloc&) {
      if (tries == kTries) throw;
    }
    std::this_thread::yield();
  }
}

}  // namespace kube::detail
