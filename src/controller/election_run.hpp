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

/// One run of a LeaderElector: the election, which runs on the loop of the lease, and around it all that calls code of the
/// user, on the thread that calls step() and on others, but never on that loop.
class ElectionRun {
 public:
  /// `options` must outlive it. Throws std::bad_alloc, and std::system_error if there is no thread for it.
  ElectionRun(const std::shared_ptr<ResourceLock>& lock, const LeaderElectionOptions& options,
              std::shared_ptr<ObservedLease> lease, Gauge master_status, Counter slow_path);
  ElectionRun(const ElectionRun&) = delete;
  ElectionRun& operator=(const ElectionRun&) = delete;
  /// step() has returned true.
  ~ElectionRun() = default;

  /// Once. `waker` is woken when step() has something to do.
  void start(const std::shared_ptr<Waker>& waker) noexcept;
  /// From any thread.
  void request_stop() noexcept;
  /// Does what is to be done now: starts the work of the leader, stops it, and waits for its end. True when everything has
  /// ended. One thread at a time; code of the user may hold it up.
  [[nodiscard]] bool step() noexcept;
  /// The exception of the work, or why it could not begin; null if nothing. After the end.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }
  /// The Runtime whose loop it runs on.
  [[nodiscard]] const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }

 private:
  void begin_work() noexcept;
  void work() noexcept;
  /// False if code of the user is still being called.
  [[nodiscard]] bool finish() noexcept;

  const LeaderElectionOptions& options_;
  std::weak_ptr<Waker> waker_;
  std::shared_ptr<AsyncLock> lock_;  // until the end
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<DeferredCalls> calls_;
  const std::shared_ptr<DeferredCalls> announcements_;  // null: nobody listens
  const std::shared_ptr<Election> election_;

  bool begun_ = false;
  std::stop_source stop_work_;
  std::atomic<bool> work_returned_ = false;
  std::exception_ptr failure_;  // written by the thread of the work before work_returned_
  std::thread thread_;
};

}  // namespace kube::detail
