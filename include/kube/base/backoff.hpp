// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/random.hpp>

#include <stop_token>

namespace kube {

/// Parameters of a Backoff (client-go's wait.Backoff).
struct BackoffOptions {
  Clock::Duration initial{};  ///< the first delay
  double factor = 1;          ///< each further delay is the previous one times this
  /// Adds a random share: a delay d becomes a random value in [d, d * (1 + jitter)).
  double jitter = 0;
  Clock::Duration cap{};  ///< the longest delay, before jitter; 0: no cap
  int tries = 0;  ///< attempts of the repeated operation, including the first one; 0: no limit
  /// If next() was last called longer ago than this, the delays start over; 0: never.
  Clock::Duration reset_after{};
  /// The source of the jitter.
  Random random = system_random();
};

/// Computes the delays between the attempts of a failing operation: exponential, with jitter.
///
/// Thread safety: one thread at a time.
class Backoff {
 public:
  /// Throws std::invalid_argument for a negative number or a factor below 1.
  explicit Backoff(BackoffOptions options);

  /// Returns the next delay. Keeps returning delays after the last attempt.
  [[nodiscard]] Clock::Duration next(Clock::TimePoint now);
  /// Waits for the next delay. Returns false at once if no attempt is left or a stop is requested.
  [[nodiscard]] bool wait(Clock& clock, std::stop_token stop);
  /// Starts over with the initial delay; called after a success.
  void reset() noexcept;

 private:
  BackoffOptions options_;
  double seconds_ = 0;
  int delays_ = 0;
  Clock::TimePoint last_{};
};

}  // namespace kube
