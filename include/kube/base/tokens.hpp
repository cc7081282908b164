// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <algorithm>
#include <chrono>

namespace kube {

/// The arithmetic of a token bucket: full at the start, refilled at `rate` per second up to `burst`. Several
/// threads need a lock around it.
class Tokens {
 public:
  Tokens(double rate, double burst, Clock::TimePoint now) noexcept
      : rate_(rate), burst_(burst), tokens_(burst), refilled_(now) {}

  /// Takes one token, if need be one that is still to come, and returns how long that takes.
  [[nodiscard]] Clock::Duration reserve(Clock::TimePoint now) noexcept {
    refill(now);
    tokens_ -= 1;
    return tokens_ >= 0 ? Clock::Duration{}
                        : std::chrono::round<Clock::Duration>(Seconds{-tokens_ / rate_});
  }
  /// Takes one if there is one.
  [[nodiscard]] bool take(Clock::TimePoint now) noexcept {
    refill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  /// Undoes a reserve() that was not waited for.
  void give_back() noexcept { tokens_ += 1; }

 private:
  using Seconds = std::chrono::duration<double>;

  void refill(Clock::TimePoint now) noexcept {
    tokens_ = std::min(burst_, tokens_ + Seconds{now - refilled_}.count() * rate_);
    refilled_ = now;
  }

  double rate_;
  double burst_;
  double tokens_;  // negative while reserved ones are still to come
  Clock::TimePoint refilled_;
};

}  // namespace kube
