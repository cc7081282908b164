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

  /// Waits for its turn. Returns false if a stop was requested before; the turn then goes to others.
  [[nodiscard]] virtual bool wait(std::stop_token stop) = 0;
};

/// Allows `burst` requests at once and `qps` per second in the long run; full at the start.
class TokenBucket final : public RateLimiter {
 public:
  /// Throws std::invalid_argument unless both are above 0.
  TokenBucket(double qps, int burst, Clock& clock = system_clock());

  [[nodiscard]] bool wait(std::stop_token stop) override;
  /// Takes a token if there is one now.
  [[nodiscard]] bool try_accept();
  /// Takes a token, if need be one that is still to come, and returns when its turn is, by clock(). A turn that is not
  /// used goes to others with give_back().
  [[nodiscard]] Clock::TimePoint reserve();
  void give_back();
  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

 private:
  Clock& clock_;
  std::mutex mutex_;
  Tokens tokens_;  // guarded by mutex_
};

}  // namespace kube
