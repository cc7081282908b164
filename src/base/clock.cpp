// SPDX-License-Identifier: Apache-2.0
#include <kube/base/clock.hpp>

#include "no_wait.hpp"

#include <algorithm>
#include <utility>

#include <time.h>

namespace kube {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall_now() const override { return std::chrono::system_clock::now(); }

  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    return condition.wait_until(lock, std::move(stop), deadline, ready);
  }
};

/// A futex waits on the monotonic clock, which stops during a suspend, so a wait rechecks the boot
/// time at this interval.
constexpr std::chrono::milliseconds kRecheckInterval{250};

Clock::TimePoint boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return Clock::TimePoint{std::chrono::seconds{time.tv_sec} +
                          std::chrono::nanoseconds{time.tv_nsec}};
}

}  // namespace

bool detail::BootClock::wait_until(std::unique_lock<std::mutex>& lock, Condition& condition,
                                   TimePoint deadline, std::stop_token stop,
                                   const std::function<bool()>& ready) {
  if (deadline == TimePoint::max()) return condition.wait_until(lock, stop, deadline, ready);
  while (!ready() && !stop.stop_requested()) {
    const TimePoint now = this->now();
    if (now >= deadline) break;
    const TimePoint next =
        std::chrono::steady_clock::now() + std::min<Duration>(deadline - now, kRecheckInterval);
    if (condition.wait_until(lock, stop, next, ready)) return true;
  }
  return ready();
}

bool Clock::sleep_until(TimePoint deadline, std::stop_token stop) {
  detail::require_may_wait("sleep_until()", "use a timer of the program's loop, or a thread");
  std::mutex mutex;
  Condition condition;
  std::unique_lock lock{mutex};
  wait_until(lock, condition, deadline, stop, [] { return false; });  // NOLINT: the token is copied
  return !stop.stop_requested();
}

bool Clock::attach(ClockTimers& /*timers*/) { return false; }
void Clock::detach(ClockTimers& /*timers*/) noexcept {}

namespace {

/// Holds an object that exit() does not destroy: a thread that still runs then (such as the one that
/// renews leases) goes on reading the clocks. Does not allocate, because callers are noexcept.
template <typename T>
union Immortal {
  template <typename... Arguments>
  explicit Immortal(Arguments&&... arguments) : value{std::forward<Arguments>(arguments)...} {}
  ~Immortal() {}  // NOLINT(modernize-use-equals-default): a union's default would be deleted

  T value;
};

}  // namespace

Clock& system_clock() noexcept {
  static Immortal<SystemClock> clock;
  return clock.value;
}

Clock& boot_clock() noexcept {
  static Immortal<detail::BootClock> clock{boot_time};
  return clock.value;
}

}  // namespace kube
