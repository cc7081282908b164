// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/scheduler.hpp"
#include <kube/cache/done_signal.hpp>

#include <chrono>

namespace kube::detail {

/// Waits for a signal that jobs of the scheduler fire; a stop does not interrupt it. If the
/// scheduler's loop has no thread, and no other thread runs it, the calling thread runs it
/// meanwhile.
inline void wait_for_end(const DoneSignal& signal, Scheduler& scheduler) {
  if (!scheduler.is_without_threads()) {
    (void)signal.wait({});
    return;
  }
  constexpr std::chrono::milliseconds kLookAgain{1};
  while (!signal.done()) {
    scheduler.loop().drive([&] { return signal.done(); });
    (void)signal.wait_until(system_clock(), system_clock().now() + kLookAgain);
  }
}

}  // namespace kube::detail
