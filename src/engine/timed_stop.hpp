// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "timer.hpp"

namespace kube::detail {

/// A stop token that is stopped with another one, and when a time has come: then by a worker, as
/// that may call user code.
class TimedStop {
 public:
  /// TimePoint::max() is no deadline. `clock` must outlive it. Throws std::bad_alloc.
  TimedStop(const std::shared_ptr<Scheduler>& scheduler, Clock& clock, Clock::TimePoint time,
            const std::stop_token& outer);
  ~TimedStop();
  TimedStop(const TimedStop&) = delete;
  TimedStop& operator=(const TimedStop&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// Whether the time has come.
  [[nodiscard]] bool passed() const noexcept;

 private:
  class Alarm;

  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::shared_ptr<Alarm> alarm_;
  std::optional<Timer> timer_;  // not of the job, which may outlive the clock for a moment
};

}  // namespace kube::detail
