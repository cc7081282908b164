// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace kube::detail {

/// A stop token that is stopped by another token or when a deadline passes.
class Deadline {
 public:
  /// TimePoint::max() means no deadline.
  Deadline(Clock& clock, Clock::TimePoint time, const std::stop_token& outer)
      : forward_(outer, [this] { source_.request_stop(); }) {
    if (time == Clock::TimePoint::max()) return;
    timer_ = std::jthread{[this, &clock, time](std::stop_token enough) {
      if (clock.sleep_until(time, std::move(enough))) {
        passed_ = true;
        source_.request_stop();
      }
    }};
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// True if the deadline passed before the other token was stopped.
  [[nodiscard]] bool passed() const noexcept { return passed_; }

 private:
  std::stop_source source_;
  std::atomic<bool> passed_ = false;
  std::stop_callback<std::function<void()>> forward_;
  std::jthread timer_;  // last member: uses the others
};

/// Returns now + `duration`, or TimePoint::max() on overflow.
[[nodiscard]] inline Clock::TimePoint time_after(const Clock& clock, Clock::Duration duration) {
  const Clock::TimePoint now = clock.now();
  return duration < Clock::TimePoint::max() - now ? now + duration : Clock::TimePoint::max();
}

}  // namespace kube::detail
