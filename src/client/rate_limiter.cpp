// SPDX-License-Identifier: Apache-2.0
#include <kube/client/rate_limiter.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kube {

TokenBucket::TokenBucket(double qps, int burst, Clock& clock)
    : qps_(qps), burst_(burst), clock_(clock), tokens_(burst), refilled_(clock.now()) {
  if (!(qps > 0) || burst <= 0) {
    throw std::invalid_argument("a token bucket needs a rate and a burst above 0");
  }
}

void TokenBucket::refill_locked(Clock::TimePoint now) {
  const std::chrono::duration<double> passed = now - refilled_;
  tokens_ = std::min(burst_, tokens_ + passed.count() * qps_);
  refilled_ = now;
}

bool TokenBucket::try_accept() {
  const std::lock_guard guard{mutex_};
  refill_locked(clock_.now());
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

bool TokenBucket::wait(std::stop_token stop) {
  if (stop.stop_requested()) return false;
  Clock::TimePoint turn;
  {
    const std::lock_guard guard{mutex_};
    const Clock::TimePoint now = clock_.now();
    refill_locked(now);
    tokens_ -= 1;
    if (tokens_ >= 0) return true;
    const std::chrono::duration<double> wait{-tokens_ / qps_};
    turn = now + std::chrono::ceil<Clock::Duration>(wait);
  }
  if (clock_.sleep_until(turn, std::move(stop))) return true;
  const std::lock_guard guard{mutex_};
  tokens_ += 1;
  return false;
}

}  // namespace kube
