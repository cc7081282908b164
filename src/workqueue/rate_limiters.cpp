// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/rate_limiters.hpp>

#include <cmath>

namespace kube::detail {

Clock::Duration exponential_delay(Clock::Duration base, Clock::Duration cap,
                                  int failures) noexcept {
  const double ticks = std::ldexp(static_cast<double>(base.count()), failures);
  return ticks < static_cast<double>(cap.count())
             ? Clock::Duration{static_cast<Clock::Duration::rep>(ticks)}
             : cap;
}

}  // namespace kube::detail
