// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

namespace kube::torture {

/// A clock that runs faster than real time, so that a back-off of a second takes milliseconds.
class FastClock final : public Clock {
 public:
  static constexpr int kFactor = 500;

  [[nodiscard]] TimePoint now() const override {
    return start_ + (std::chrono::steady_clock::now() - start_) * kFactor;
  }
  [[nodiscard]] WallTime wall_now() const override {
    return wall_start_ + std::chrono::duration_cast<WallTime::duration>(now() - start_);
  }
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition& condition, TimePoint deadline,
                  std::stop_token stop, const std::function<bool()>& ready) override {
    const TimePoint real =
        deadline == TimePoint::max() ? deadline : start_ + (deadline - start_) / kFactor;
    return condition.wait_until(lock, std::move(stop), real, ready);
  }

 private:
  const TimePoint start_ = std::chrono::steady_clock::now();
  const WallTime wall_start_ = std::chrono::system_clock::now();
};

}  // namespace kube::torture
