// SPDX-License-Identifier: Apache-2.0
#include <kube/base/clock.hpp>

#include <utility>

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

}  // namespace

bool Clock::sleep_until(TimePoint deadline, std::stop_token stop) {
  std::mutex mutex;
  Condition condition;
  std::unique_lock lock{mutex};
  wait_until(lock, condition, deadline, stop, [] { return false; });  // NOLINT: the token is copied
  return !stop.stop_requested();
}

Clock& system_clock() noexcept {
  static SystemClock clock;
  return clock;
}

}  // namespace kube
