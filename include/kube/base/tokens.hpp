// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <algorithm>
#include <chrono>

namespace kube {

/// The arithmetic of a token bucket: full at the start, refilled at `rate` tokens per second up to
/// `burst`. Not thread-safe: needs an external lock.
class Tokens {
 public:
  /// `now` is the time of the start.
  Tokens(double rate, double burst, Clock::TimePoint now) noexcept
      : rate_(rate), burst_(burst), tokens_(burst), refilled_(now) {}

  /// Takes one token, possibly a future one, and returns the time until it is available.
  [[nodiscard]] Clock::Duration reserve(Clock::TimePoint now) noexcept {
    refill(now);
    tokens_ -= 1;
    return tokens_ >= 0 ? Clock::Duration{}
                        : std::chrono::round<Clock::Duration>(Seconds{-tokens_ / rate_});
  }
  /// Takes one token if one is available.
  [[nodiscard]] bool take(Clock::TimePoint now) noexcept {
    refill(now);
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  /// Undoes a reserve() whose delay was not waited for.
  void give_back() noexcept { tokens_ += 1; }

 private:
  using Seconds = std::chrono::duration<double>;

  void refill(Clock::TimePoint now) noexcept {
    tokens_ = std::min(burst_, tokens_ + Seconds{now - refilled_}.count() * rate_);
    refilled_ = now;
  }

  double rate_;
  double burst_;
  double tokens_;  // negative while reserved tokens are not yet available
  Clock::TimePoint refilled_;
};

}  // namespace kube
