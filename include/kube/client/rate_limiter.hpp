// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/tokens.hpp>

#include <mutex>
#include <stop_token>

namespace kube {

/// Decides when a request may be sent. Several clients may share one.
///
/// Thread safety: all methods may be called from any thread.
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;

  /// Waits until a request may be sent. Returns false after a stop, and then uses up no token.
  [[nodiscard]] virtual bool wait(std::stop_token stop) = 0;
};

/// Token bucket: allows `burst` requests at once and `qps` per second on average. Full at the
/// start.
class TokenBucket final : public RateLimiter {
 public:
  /// Throws std::invalid_argument unless both are positive.
  TokenBucket(double qps, int burst, Clock& clock = system_clock());

  [[nodiscard]] bool wait(std::stop_token stop) override;
  /// Takes a token if one is available now.
  [[nodiscard]] bool try_accept();
  /// Takes a token, possibly a future one, and returns the time, by clock(), at which it becomes
  /// valid. Return an unused token with give_back().
  [[nodiscard]] Clock::TimePoint reserve();
  /// Returns a token taken by reserve().
  void give_back();
  /// The clock of the times that reserve() returns.
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

 private:
  Clock& clock_;
  std::mutex mutex_;
  Tokens tokens_;  // guarded by mutex_
};

}  // namespace kube
