// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>
#include <kube/base/log.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "job.hpp"

namespace kube::detail {

/// Configures a WorkerPool. Any field may be left out.
struct WorkerPoolOptions {
  /// Permanent workers, created on first use. 0: the loop runs all jobs.
  unsigned threads = 1;
  /// Limit of workers inside jobs that may block; 0: no limit. One more worker is available for
  /// jobs that do not block, and one for each urgent job.
  unsigned max_threads = 64;
  /// Workers beyond `kept` end after this time without work.
  std::chrono::nanoseconds idle_end = std::chrono::seconds{10};
  /// Number of idle workers that are kept; `threads` by default.
  std::optional<unsigned> kept = std::nullopt;
  /// How long the limit holds jobs back before a warning is logged.
  std::chrono::nanoseconds report_after = std::chrono::seconds{1};
  /// The least time between two such warnings.
  std::chrono::nanoseconds report_every = std::chrono::minutes{1};
  /// Prefix of the thread names, as in "kube-work-0"; at most 12 characters.
  const char* name = "kube-work";
};

/// The threads that run jobs beside the loop. More are created while the existing ones are blocked
/// inside user code; they end after some time without work.
///
/// Thread safety: all methods may be called from any thread.
class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  WorkerPool(WorkerPoolOptions options, Logger log);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Starts the watchdog on the loop of `scheduler`, until close(). Call before the first push().
  /// Throws std::bad_alloc.
  void start(const std::shared_ptr<Scheduler>& scheduler);
  [[nodiscard]] bool is_without_threads() const noexcept { return options_.threads == 0; }
  void push(std::shared_ptr<Job> job) noexcept;
  enum class Close { kAtOnce, kAndWait };
  /// Drops all jobs and ends the workers after the jobs that they run. Waits until they have ended
  /// (kAndWait), or returns at once.
  void close(Close how) noexcept;
  /// True if the calling thread is one of the workers.
  [[nodiscard]] bool is_here() const;
  /// The number of workers.
  [[nodiscard]] std::size_t size() const;

  /// A job that occupies a worker for more than a moment.
  struct Blocked {
    std::string name;
    std::chrono::nanoseconds time;
  };
  /// Returns the jobs inside user code while the limit holds others back, longest first; otherwise
  /// none. Throws std::bad_alloc.
  [[nodiscard]] std::vector<Blocked> blocked() const;

  /// Called before each call of user code: the calling thread, if it is a worker, is not stuck.
  static void note_progress() noexcept;

 private:
  class Watchdog;
  class WorkerWatchdog;
  class LimitWatchdog;
  struct Worker {
    std::thread thread;
    std::atomic<std::uint64_t> progress = 0;
    /// Guards `blocking` where it is cleared, besides the pool's mutex: the job may be destroyed
    /// afterwards.
    mutable std::mutex naming;
    /// The job that it runs, if that may block.
    const Job* blocking = nullptr;
    // Guarded by the pool's mutex:
    std::chrono::steady_clock::time_point blocking_since;
    bool has_clock = false;
    clockid_t cpu_clock{};
    pid_t id = 0;  // 0 until the thread has started
    // Only used by the watchdog:
    std::uint64_t seen_progress = 0;
    std::chrono::nanoseconds seen_cpu{};
  };

  /// Adds a worker. Returns false if the system refuses.
  bool add_locked() noexcept;
  /// Returns the watchdog if it is not active yet, else null.
  [[nodiscard]] std::shared_ptr<Watchdog> watch_locked() noexcept;
  [[nodiscard]] std::shared_ptr<Job> take_locked() noexcept;
  [[nodiscard]] JobList& list_of_locked(Placement placement) noexcept;
  [[nodiscard]] bool has_work_locked() const noexcept;
  [[nodiscard]] bool may_block_locked() const noexcept;
  /// Whether jobs wait only because of the limit.
  [[nodiscard]] bool is_limit_reached_locked() const noexcept;
  /// The watchdog of the limit, if the limit is reached and the watchdog is idle.
  [[nodiscard]] std::shared_ptr<Watchdog> watch_limit_locked() noexcept;
  [[nodiscard]] std::vector<Blocked> blocked_locked() const;
  void work(Worker& worker) noexcept;
  /// Queues a job that has more to do, on the worker that has just run it. That worker takes the
  /// next job itself, so no other one is woken: a wake-up for each slice of a long delivery would
  /// cost more than the delivery.
  void queue_again(std::shared_ptr<Job> job, std::unique_lock<std::mutex>& lock) noexcept;
  void join_ended() noexcept;
  static void join(std::list<Worker>& ended) noexcept;
  /// Adds a worker if all existing ones are stuck. Returns the delay until the next check, or
  /// nullopt if none is needed before another job is queued. Called by the watchdog.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> check_workers() noexcept;
  /// Returns true if the loop's thread must run jobs itself because no worker is available.
  [[nodiscard]] bool help_locked() noexcept;
  [[nodiscard]] bool are_all_stuck_locked() noexcept;
  /// True if any worker has made progress since the last call, or has not started.
  [[nodiscard]] bool note_seen_progress_locked() noexcept;
  void report_refusal() noexcept;
  /// Names the jobs that block, if others have waited for them long enough. Returns the delay until
  /// the next check, as check_workers() does.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> check_limit() noexcept;
  void report_limit(const std::vector<Blocked>& blocked) const noexcept;
  /// Runs jobs for a short time. Returns true if more are queued.
  [[nodiscard]] bool run_library_jobs() noexcept;

  const WorkerPoolOptions options_;
  const Logger log_;

  mutable std::mutex mutex_;
  Condition work_;
  // Guarded by mutex_:
  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<Watchdog> limit_watchdog_;
  JobList urgent_;  // taken before the others; not limited
  JobList library_;
  JobList blocking_;
  bool blocking_next_ = false;  // library_ and blocking_ alternate
  std::list<Worker> workers_;
  std::list<Worker> ended_;
  std::size_t ready_ = 0;  // number of jobs in all lists
  std::size_t idle_ = 0;
  std::size_t in_blocking_ = 0;
  std::size_t in_urgent_ = 0;
  unsigned next_number_ = 0;
  bool watched_ = false;
  bool limit_watched_ = false;
  /// Since when the limit has been holding back one job or another.
  std::optional<std::chrono::steady_clock::time_point> held_since_;
  std::optional<std::chrono::steady_clock::time_point> limit_reported_;
  bool closed_ = false;
  /// The error of the last attempt to create a thread; none if it succeeded. No retry before
  /// `retry_at_`.
  std::error_code refused_;
  bool refusal_reported_ = false;
  std::chrono::steady_clock::time_point retry_at_;
};

}  // namespace kube::detail
