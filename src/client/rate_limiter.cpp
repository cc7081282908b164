// SPDX-License-Identifier: Apache-2.0
#include <kube/client/rate_limiter.hpp>

#include <stdexcept>
#include <utility>

namespace kube {

TokenBucket::TokenBucket(double qps, int burst, Clock& clock)
    : clock_(clock), tokens_(qps, burst, clock.now()) {
  if (!(qps > 0) || burst <= 0) {
    throw std::invalid_argument("a token bucket needs a rate and a burst above 0");
  }
}

bool TokenBucket::try_accept() {
  const std::lock_guard guard{mutex_};
  return tokens_.take(clock_.now());
}

Clock::TimePoint TokenBucket::reserve() {
  const std::lock_guard guard{mutex_};
  const Clock::TimePoint now = clock_.now();
  return now + tokens_.reserve(now);
}

void TokenBucket::give_back() {
  const std::lock_guard guard{mutex_};
  tokens_.give_back();
}

bool TokenBucket::wait(std::stop_token stop) {
  if (stop.stop_requested()) return false;
  const Clock::TimePoint turn = reserve();
  if (turn <= clock_.now() || clock_.sleep_until(turn, std::move(stop))) return true;
  give_back();
  return false;
}

}  // namespace kube
