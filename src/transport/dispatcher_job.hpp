// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/job.hpp"
#include "engine/timer.hpp"
#include <kube/base/condition.hpp>

#include <atomic>
#include <memory>
#include <mutex>

#include "http_dispatcher.hpp"

namespace kube::detail {

/// Runs a HttpDispatcher on the loop of a Runtime whenever a socket, the mailbox or a timer
/// requires it.
///
/// Thread safety: all public methods may be called from any thread.
class DispatcherJob final : public Job {
 public:
  /// Throws TransportError.
  DispatcherJob(std::unique_ptr<HttpDispatcher> dispatcher,
                const std::shared_ptr<Scheduler>& scheduler);

  /// Call once, before the first post.
  void start() noexcept { dispatcher_->attach(shared_from_this()); }
  /// Cancels all exchanges and waits until that is done, except on the loop's thread.
  void stop() noexcept;
  /// Returns whether the calling thread runs the loop.
  [[nodiscard]] bool is_here() const noexcept;

 private:
  using TimePoint = Clock::TimePoint;

  void run() noexcept override;
  void wait_until(TimePoint next, TimePoint now) noexcept;
  void shut_down() noexcept;
  [[nodiscard]] bool has_ended_within(std::chrono::nanoseconds limit) noexcept;

  const std::unique_ptr<HttpDispatcher> dispatcher_;
  std::atomic<bool> stopping_ = false;
  // Used on the loop's thread only:
  Timer timer_;
  TimePoint timer_set_ = TimePoint::max();
  TimePoint due_ = TimePoint::max();  // when run() must be called
  bool is_running_ = false;

  std::mutex mutex_;
  Condition ended_changed_;
  bool ended_ = false;  // guarded by mutex_
};

}  // namespace kube::detail
