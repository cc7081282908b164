// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>

#include <stop_token>
#include <utility>

namespace kube {

/// How often and how fast to write again after a conflict with another writer: 5 tries, 10 ms apart.
[[nodiscard]] BackoffOptions default_retry();
/// For objects that others keep writing to: 4 tries, 10 ms, 50 ms and 250 ms apart.
[[nodiscard]] BackoffOptions slow_retry();

/// Calls `write` until it does not throw a conflict. It must read the object anew each time: writing the
/// same old version again fails again. When the tries are used up, or after a stop, the last conflict is
/// thrown; any other error at once.
template <typename Write>
auto retry_on_conflict(Write write, BackoffOptions options = default_retry(),
                       Clock& clock = system_clock(), std::stop_token stop = {}) {
  Backoff backoff{std::move(options)};
  while (true) {
    try {
      return write();
    } catch (const ApiError& error) {
      if (!is_conflict(error) || !backoff.wait(clock, stop)) throw;
    }
  }
}

}  // namespace kube
