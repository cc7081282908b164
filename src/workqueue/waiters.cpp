// SPDX-License-Identifier: Apache-2.0
#include <kube/workqueue/detail/waiters.hpp>

#include <utility>

namespace kube::detail {

void Waiters::wait(std::unique_lock<std::mutex>& lock, Clock::TimePoint next,
                   std::stop_token stop) {
  const bool keeps_time = next < kept_;
  if (keeps_time) kept_ = next;
  ++waiting_;
  clock_.wait_until(lock, condition_, keeps_time ? next : Clock::TimePoint::max(), std::move(stop),
                    [this, seen = wakes_] { return wakes_ != seen; });
  --waiting_;
  // Somebody may have taken over, with an earlier time.
  if (keeps_time && kept_ == next) kept_ = Clock::TimePoint::max();
}

}  // namespace kube::detail
