// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/engine/suspension.hpp>

namespace kube {

class Runtime;

namespace detail {
[[nodiscard]] Await<bool> await_sleep(Runtime& runtime, Clock::Duration duration, Clock& clock);
}

/// `co_await sleep(runtime, 5s)`: waits without blocking a thread. Returns true after the duration,
/// false if the Task is stopped first. `clock` must outlive the wait.
[[nodiscard]] inline auto sleep(Runtime& runtime, Clock::Duration duration,
                                Clock& clock = system_clock()) {
  return detail::await_sleep(runtime, duration, clock);
}

}  // namespace kube
