// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/polling.hpp"
#include <kube/base/clock.hpp>

#include <stop_token>

namespace kube::detail {

/// Polls an operation in the caller's thread until it is ready. The operation's Poller has no
/// scheduler, so it makes blocking calls itself and is pending only until wake_at(). Throws
/// Operation::canceled() if a stop ends that wait.
template <typename Operation, typename PollOnce>
void complete(const Operation& operation, Clock& clock, const std::stop_token& stop,
              const PollOnce& poll) {
  for (Poll result = poll(); result != Poll::kReady; result = poll()) {
    if (result == Poll::kPending && !clock.sleep_until(operation.wake_at(), stop)) {
      throw operation.canceled();
    }
  }
}

}  // namespace kube::detail
