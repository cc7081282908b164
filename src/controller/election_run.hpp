// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "election.hpp"

#include "base/waker.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>

namespace kube::detail {

/// One run of a LeaderElector: the election, which runs on the loop of the lease, and everything
/// that calls user code, on the thread that calls step() and on others, but never on that loop.
class ElectionRun {
 public:
  /// `options` must outlive it. Throws std::bad_alloc, and std::system_error if no thread can be
  /// started.
  ElectionRun(const std::shared_ptr<ResourceLock>& lock, const LeaderElectionOptions& options,
              std::shared_ptr<ObservedLease> lease, Gauge master_status, Counter slow_path);
  ElectionRun(const ElectionRun&) = delete;
  ElectionRun& operator=(const ElectionRun&) = delete;
  /// Requires that step() has returned true.
  ~ElectionRun() = default;

  /// Call once. `waker` is woken when step() has something to do.
  void start(const std::shared_ptr<Waker>& waker) noexcept;
  /// Thread safety: any thread.
  void request_stop() noexcept;
  /// Does the pending work: starts the leader's work, stops it, and waits for its end. Returns true
  /// when everything has ended.
  /// Thread safety: one thread at a time; user code may block it.
  [[nodiscard]] bool step() noexcept;
  /// Returns the exception of the work, or why it could not begin; null if there is none. Valid
  /// after the end.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
  /// Returns the Runtime whose loop it runs on.
  [[nodiscard]] const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }

 private:
  void begin_work() noexcept;
  void work() noexcept;
  /// Returns false if user code is still being called.
  [[nodiscard]] bool finish() noexcept;

  const LeaderElectionOptions& options_;
  std::weak_ptr<Waker> waker_;
  std::shared_ptr<AsyncLock> lock_;  // until the end
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<DeferredCalls> calls_;
  const std::shared_ptr<DeferredCalls> announcements_;  // null: no listener
  const std::shared_ptr<Election> election_;

  bool begun_ = false;
  std::stop_source stop_work_;
  std::atomic<bool> work_returned_ = false;
  std::exception_ptr failure_;  // written by the thread of the work before work_returned_
  std::thread thread_;
};

}  // namespace kube::detail
