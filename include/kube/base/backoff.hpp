// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/random.hpp>

#include <stop_token>

namespace kube {

struct BackoffOptions {
  Clock::Duration initial{};  ///< the first delay
  double factor = 1;          ///< what each further one is multiplied with
  double jitter = 0;          ///< a delay d becomes a random one in [d, d * (1 + jitter))
  Clock::Duration cap{};      ///< the longest delay, before jitter; 0: none
  int tries = 0;  ///< of the operation that is repeated, the first one included; 0: no limit
  /// When the last delay was asked for longer ago than this, all begins anew; 0: never.
  Clock::Duration reset_after{};
  Random random = system_random();
};

/// How long to wait before the next try of something that failed. Belongs to one thread at a time.
class Backoff {
 public:
  /// Throws std::invalid_argument for a negative number, and for a factor below 1.
  explicit Backoff(BackoffOptions options);

  /// The next delay. Goes on when the tries are used up.
  [[nodiscard]] Clock::Duration next(Clock::TimePoint now);
  /// Waits for the next delay. Returns false, at once, if there is no try left or a stop is requested.
  [[nodiscard]] bool wait(Clock& clock, std::stop_token stop);
  /// Begins anew, as after a success.
  void reset() noexcept;

 private:
  BackoffOptions options_;
  double seconds_ = 0;
  int delays_ = 0;
  Clock::TimePoint last_{};
};

}  // namespace kube
