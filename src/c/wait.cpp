// SPDX-License-Identifier: Apache-2.0
#include "wait.hpp"

#include "base/no_wait.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"
#include <kube/base/clock.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

#include "last_error.hpp"

namespace kube::c {

namespace {

/// Longer times are clamped to a century, which overflows no clock.
constexpr std::int64_t kForeverMs = std::int64_t{100} * 365 * 24 * 3600 * 1000;

[[noreturn]] void throw_canceled() {
  throw Failure(KUBECXX_ERROR_CANCELED, "the call was canceled");
}

}  // namespace

Clock::TimePoint deadline_after(std::int64_t timeout_ms) {
  if (timeout_ms < 0 || timeout_ms > kForeverMs) return Clock::TimePoint::max();
  return system_clock().now() + std::chrono::milliseconds{timeout_ms};
}

void check_may_wait(const char* function) {
  if (!detail::NoWaitCode::is_here()) return;
  throw std::logic_error(std::string{function} +
                         " waits, and was called in a log sink, a release function, or on the loop "
                         "of a runtime without "
                         "threads; call it after the callback has returned, or on another thread");
}

void wait_for_signal(const char* function, OwnLoop* own_loop, const DoneSignal& signal,
                     std::int64_t timeout_ms, const kubecxx_cancel* cancel,
                     const std::function<std::string()>& timeout_message) {
  if (signal.done()) return;
  const std::stop_token stop = cancel != nullptr ? cancel->source.get_token() : std::stop_token{};
  if (timeout_ms != 0) {
    check_may_wait(function);
    const Clock::TimePoint deadline = deadline_after(timeout_ms);
    if (own_loop != nullptr) own_loop->drive([&] { return signal.done(); }, deadline, stop);
    const bool done = signal.wait_until(system_clock(), deadline, stop);
    if (own_loop != nullptr) own_loop->finish_freed();
    if (done) return;
  }
  if (stop.stop_requested()) throw_canceled();
  throw Failure(KUBECXX_ERROR_TIMEOUT, timeout_message());
}

/// Requests a stop at the deadline.
class CallDeadline::Alarm final : public detail::Job {
 public:
  Alarm(const std::shared_ptr<detail::Scheduler>& scheduler, std::stop_source source)
      : Job(detail::Placement::kLoop),
        source_(std::move(source)),
        timer_(scheduler, system_clock()) {
    bind(scheduler);
  }

  void set(std::chrono::milliseconds time) noexcept {
    timer_.set(system_clock().now() + time, weak_from_this());
  }
  void cancel() noexcept { timer_.cancel(); }
  [[nodiscard]] bool has_fired() const noexcept { return fired_; }

 private:
  void run() noexcept override {
    fired_ = true;
    (void)source_.request_stop();
  }

  std::stop_source source_;
  std::atomic<bool> fired_ = false;
  detail::Timer timer_;
};

CallDeadline::CallDeadline(const Runtime& runtime, std::int64_t timeout_ms,
                           const kubecxx_cancel* cancel)
    : canceled_(cancel != nullptr ? cancel->source.get_token() : std::stop_token{}),
      forward_(canceled_, Forward{source_}) {
  if (timeout_ms < 0) throw std::invalid_argument("timeout_ms is negative; 0 is no timeout");
  if (timeout_ms == 0 || timeout_ms > kForeverMs) return;
  alarm_ = std::make_shared<Alarm>(detail::Inside::core(runtime), source_);
  alarm_->set(std::chrono::milliseconds{timeout_ms});
}

CallDeadline::~CallDeadline() {
  if (alarm_) alarm_->cancel();
}

std::stop_token CallDeadline::token() const noexcept { return source_.get_token(); }

void CallDeadline::rethrow() const {
  if (alarm_ && alarm_->has_fired()) {
    throw Failure(KUBECXX_ERROR_TIMEOUT, "no answer within the timeout_ms of the options");
  }
  if (canceled_.stop_requested()) throw_canceled();
  throw;
}

}  // namespace kube::c

int kubecxx_cancel_new(kubecxx_cancel** cancel) {
  return kube::c::guarded([&] {
    auto& result = kube::c::output(cancel, "cancel");
    result = new kubecxx_cancel;
  });
}
int kubecxx_cancel_request(kubecxx_cancel* cancel) {
  return kube::c::guarded([&] { kube::c::required(cancel, "cancel").source.request_stop(); });
}
void kubecxx_cancel_free(kubecxx_cancel* cancel) { delete cancel; }
