// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>

#include <memory>

#include "event_loop.hpp"
#include "queue_registry.hpp"
#include "worker_pool.hpp"

namespace kube::detail {

/// The event loop and the workers of a Runtime; passes each job to a thread that may run it. Jobs
/// and timers share ownership of it. Its threads belong to the Runtime.
///
/// Thread safety: all methods may be called from any thread.
class Scheduler : public std::enable_shared_from_this<Scheduler> {
 public:
  /// Throws std::system_error.
  Scheduler(WorkerPoolOptions workers, const Logger& log);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] EventLoop& loop() noexcept { return loop_; }
  [[nodiscard]] WorkerPool& workers() noexcept { return *workers_; }
  [[nodiscard]] QueueRegistry& queues() noexcept { return queues_; }
  [[nodiscard]] const Logger& log() const noexcept { return log_; }

  void push(std::shared_ptr<Job> job) noexcept;
  /// Queues a job whose run left work to do, behind other jobs and the loop's sockets.
  void push_again(std::shared_ptr<Job> job) noexcept;
  [[nodiscard]] bool is_without_threads() const noexcept { return workers_->is_without_threads(); }
  /// True on the loop's thread if there are workers, which should run what takes long.
  [[nodiscard]] bool is_on_busy_loop() const noexcept {
    return loop_.is_here() && !is_without_threads();
  }
  /// Drops all jobs and tasks, and refuses further ones. Ends the workers. The loop must not run
  /// any more.
  void close() noexcept;
  /// Runs a job that was taken from a list. Returns true if the caller has to queue it again.
  [[nodiscard]] static bool run(Job& job) noexcept { return job.execute(); }
  /// As run(), and queues the job again if it has more to do.
  static void execute(std::shared_ptr<Job> job) noexcept;

 private:
  const Logger log_;
  QueueRegistry queues_;
  EventLoop loop_;
  const std::shared_ptr<WorkerPool> workers_;
};

}  // namespace kube::detail
