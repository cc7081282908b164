// SPDX-License-Identifier: Apache-2.0
#include "timed_stop.hpp"

#include <atomic>
#include <string_view>
#include <utility>

namespace kube::detail {

class TimedStop::Alarm final : public Job {
 public:
  Alarm(const std::shared_ptr<Scheduler>& scheduler, std::stop_source source)
      : Job(Placement::kUrgent), source_(std::move(source)) {
    bind(scheduler);
  }

  [[nodiscard]] bool has_fired() const noexcept { return fired_; }
  [[nodiscard]] std::string_view name() const noexcept override { return "a deadline"; }

 private:
  void run() noexcept override {
    fired_ = true;
    source_.request_stop();
  }

  std::stop_source source_;
  std::atomic<bool> fired_ = false;
};

TimedStop::TimedStop(const std::shared_ptr<Scheduler>& scheduler, Clock& clock,
                     Clock::TimePoint time, const std::stop_token& outer)
    : forward_(outer, [this] { source_.request_stop(); }) {
  if (time == Clock::TimePoint::max()) return;
  alarm_ = std::make_shared<Alarm>(scheduler, source_);
  timer_.emplace(scheduler, clock);
  timer_->set(time, alarm_);
}

TimedStop::~TimedStop() = default;

bool TimedStop::passed() const noexcept { return alarm_ && alarm_->has_fired(); }

}  // namespace kube::detail
