// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

namespace kube::detail {

/// Returns now + `duration`, or TimePoint::max() on overflow.
[[nodiscard]] inline Clock::TimePoint time_after(const Clock& clock, Clock::Duration duration) {
  const Clock::TimePoint now = clock.now();
  return duration < Clock::TimePoint::max() - now ? now + duration : Clock::TimePoint::max();
}

}  // namespace kube::detail
