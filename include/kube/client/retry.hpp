// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/base/backoff.hpp>
#include <kube/base/clock.hpp>

#include <stop_token>
#include <utility>

namespace kube {

/// Backoff for a write that conflicts with another writer: 5 tries, 10 ms apart.
[[nodiscard]] BackoffOptions default_retry();
/// Backoff for objects with several active writers: 4 tries, 10 ms, 50 ms and 250 ms apart.
[[nodiscard]] BackoffOptions slow_retry();

/// Calls `write` until it no longer throws a conflict. `write` must read the object again each
/// time: writing the same stale version fails again. When no tries are left, or after a stop, the
/// last conflict is rethrown; any other error is rethrown at once.
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
