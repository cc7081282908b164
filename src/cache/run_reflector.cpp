// SPDX-License-Identifier: Apache-2.0
#include "run_reflector.hpp"

#include "wait_for_end.hpp"

#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/cache/done_signal.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace kube::detail {

namespace {

/// Pause before a start is retried that failed for lack of memory or threads.
constexpr std::chrono::milliseconds kAfterFailedStart{100};

class ReflectorJob final : public Job {
 public:
  ReflectorJob(ReflectorCore& reflector, const std::shared_ptr<Scheduler>& scheduler, Clock& clock)
      : Job(Placement::kLibrary), reflector_(reflector), clock_(clock) {
    timer_.emplace(scheduler, clock);
    bind(scheduler);
  }

  void stop() noexcept {
    reflector_.stop();
    schedule();
  }
  [[nodiscard]] const DoneSignal& ended() const noexcept { return ended_; }

 private:
  void run() noexcept override {
    if (ended_.done()) return;
    if (reflector_.tick_at() <= clock_.now()) reflector_.tick();
    switch (reflector_.poll({.waker = shared_from_this(), .scheduler = scheduler()})) {
      case Poll::kMore:
        return schedule();
      case Poll::kPending:
        return timer_->set(std::min(reflector_.wake_at(), reflector_.tick_at()), weak_from_this());
      case Poll::kReady:
        timer_.reset();
        return ended_.fire();
    }
  }

  ReflectorCore& reflector_;
  Clock& clock_;
  std::optional<Timer> timer_;  // until the reflector has ended: the clock may be destroyed then
  const DoneSignal ended_;
};

}  // namespace

void run_reflector(ReflectorCore& reflector, AsyncListWatch& source, Clock& clock,
                   std::stop_token stop) noexcept {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<ReflectorJob> job;
  while (job == nullptr) {
    if (stop.stop_requested()) return;
    try {
      if (runtime == nullptr) runtime = source.runtime();
      if (runtime == nullptr) runtime = shared_runtime();
      job = std::make_shared<ReflectorJob>(reflector, Inside::core(*runtime), clock);
    } catch (...) {
      (void)system_clock().sleep_for(kAfterFailedStart, stop);
    }
  }
  job->schedule();
  {
    const std::stop_callback end{stop, [&]() noexcept { job->stop(); }};
    wait_for_end(job->ended(), *Inside::core(*runtime));
  }
  source.join();
}

}  // namespace kube::detail
