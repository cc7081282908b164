// SPDX-License-Identifier: Apache-2.0
#include <kube/base/backoff.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

namespace kube {
namespace {

using Seconds = std::chrono::duration<double>;

/// A quarter of the range, about 73 years: doubling it or adding it to a time cannot overflow.
constexpr Clock::Duration kLongest = Clock::Duration::max() / 4;

Clock::Duration to_duration(double seconds) {
  return seconds < Seconds{kLongest}.count() ? std::chrono::round<Clock::Duration>(Seconds{seconds})
                                             : kLongest;
}

}  // namespace

Backoff::Backoff(BackoffOptions options) : options_(std::move(options)) {
  constexpr Clock::Duration kNone{};
  if (options_.initial < kNone || options_.cap < kNone || options_.reset_after < kNone ||
      !(options_.factor >= 1) || !(options_.jitter >= 0) || options_.tries < 0) {
    throw std::invalid_argument{"backoff: a negative number, or a factor below 1"};
  }
  if (options_.cap == kNone) options_.cap = kLongest;
  reset();
}

void Backoff::reset() noexcept {
  seconds_ = Seconds{options_.initial}.count();
  delays_ = 0;
}

Clock::Duration Backoff::next(Clock::TimePoint now) {
  if (delays_ > 0 && options_.reset_after > Clock::Duration{} &&
      now - last_ > options_.reset_after) {
    reset();
  }
  last_ = now;
  if (delays_ < std::numeric_limits<int>::max()) ++delays_;
  const double seconds = std::min(seconds_, Seconds{options_.cap}.count());
  seconds_ = seconds * options_.factor;
  // Without jitter the delay is exact; no random number is drawn.
  return to_duration(options_.jitter > 0 ? seconds * (1 + options_.jitter * options_.random())
                                         : seconds);
}

bool Backoff::wait(Clock& clock, std::stop_token stop) {
  if (stop.stop_requested() || (options_.tries > 0 && delays_ + 1 >= options_.tries)) return false;
  return clock.sleep_for(next(clock.now()), std::move(stop));
}

}  // namespace kube
