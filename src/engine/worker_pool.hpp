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

struct WorkerPoolOptions {
  /// Workers that stay; made when they are first needed. 0: the loop runs all jobs.
  unsigned threads = 1;
  /// Limit of workers inside jobs that may block; 0: no limit. One more is there for jobs that do not, and one for each
  /// urgent job.
  unsigned max_threads = 64;
  /// Workers beyond `kept` end when they have had nothing to do for this long.
  std::chrono::nanoseconds idle_end = std::chrono::seconds{10};
  /// How many idle workers stay; `threads` by default.
  std::optional<unsigned> kept = std::nullopt;
  /// Jobs that the limit has held back for this long are worth a warning...
  std::chrono::nanoseconds report_after = std::chrono::seconds{1};
  /// ...which is not repeated before this time has passed.
  std::chrono::nanoseconds report_every = std::chrono::minutes{1};
  /// Names of the threads, "kube-work-0"...; 12 characters at most.
  const char* name = "kube-work";
};

/// The threads that run jobs beside the loop. More are made while those that exist are blocked inside user code, and end
/// when they have had nothing to do for a while.
///
/// Thread safety: all methods may be called from any thread.
class WorkerPool : public std::enable_shared_from_this<WorkerPool> {
 public:
  WorkerPool(WorkerPoolOptions options, Logger log);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Has the loop of `scheduler` look after the workers until close(). Before the first push(). Throws std::bad_alloc.
  void start(const std::shared_ptr<Scheduler>& scheduler);
  [[nodiscard]] bool is_without_threads() const noexcept { return options_.threads == 0; }
  void push(std::shared_ptr<Job> job) noexcept;
  enum class Close { kAtOnce, kAndWait };
  /// Drops all jobs, and ends all workers after the jobs that they run. Waits until they have ended, or leaves them to
  /// themselves.
  void close(Close how) noexcept;
  /// Whether the calling thread is one of the workers.
  [[nodiscard]] bool is_here() const;
  /// How many workers exist.
  [[nodiscard]] std::size_t size() const;

  /// A job that has been keeping a worker for more than a moment.
  struct Blocked {
    std::string name;
    std::chrono::nanoseconds time;
  };
  /// The jobs inside user code while the limit holds others back, longest first; none while it does not. Throws
  /// std::bad_alloc.
  [[nodiscard]] std::vector<Blocked> blocked() const;

  /// Says that the calling thread, if it is a worker, is not stuck: it begins another call of user code.
  static void note_progress() noexcept;

 private:
  class Watchdog;
  struct Worker {
    std::thread thread;
    std::atomic<std::uint64_t> progress = 0;
    /// Guards `blocking` where it is cleared, besides the pool's mutex: the job may be destroyed afterwards.
    mutable std::mutex naming;
    /// The job that it runs, if that may block.
    const Job* blocking = nullptr;
    // Guarded by the pool's mutex:
    std::chrono::steady_clock::time_point blocking_since;
    bool has_clock = false;
    clockid_t cpu_clock{};
    pid_t id = 0;  // 0: it has not begun yet
    // For the watchdog:
    std::uint64_t seen_progress = 0;
    std::chrono::nanoseconds seen_cpu{};
  };

  /// Adds a worker. False if the system refuses.
  bool add_locked() noexcept;
  /// The watchdog, if it does not look yet.
  [[nodiscard]] std::shared_ptr<Watchdog> watch_locked() noexcept;
  [[nodiscard]] std::shared_ptr<Job> take_locked() noexcept;
  [[nodiscard]] JobList& list_of_locked(Placement placement) noexcept;
  [[nodiscard]] bool has_work_locked() const noexcept;
  [[nodiscard]] bool may_block_locked() const noexcept;
  /// Whether jobs wait only because of the limit.
  [[nodiscard]] bool is_limit_reached_locked() const noexcept;
  /// The watchdog of the limit, if that is reached and it does not look yet.
  [[nodiscard]] std::shared_ptr<Watchdog> watch_limit_locked() noexcept;
  [[nodiscard]] std::vector<Blocked> blocked_locked() const;
  void work(Worker& worker) noexcept;
  void join_ended() noexcept;
  static void join(std::list<Worker>& ended) noexcept;
  /// Adds a worker if all that exist are stuck. Returns after which time it has to look again; nothing: not before a job
  /// waits. Called by the watchdog.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> look() noexcept;
  /// Returns whether jobs are to run in the thread of the loop, for want of a worker.
  [[nodiscard]] bool help_locked() noexcept;
  [[nodiscard]] bool are_all_stuck_locked() noexcept;
  /// Whether any worker has made progress since the last call, or has not begun.
  [[nodiscard]] bool note_seen_progress_locked() noexcept;
  void report_refusal() noexcept;
  /// Names the jobs that block, if others have been waiting for them for long enough. Returns as look() does.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> look_at_limit() noexcept;
  void report_limit(const std::vector<Blocked>& blocked) const noexcept;
  /// For a short time; returns whether there are more.
  [[nodiscard]] bool run_library_jobs() noexcept;

  const WorkerPoolOptions options_;
  const Logger log_;

  mutable std::mutex mutex_;
  Condition work_;
  // Guarded by mutex_:
  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<Watchdog> limit_watchdog_;
  JobList urgent_;  // before the others; not limited
  JobList library_;
  JobList blocking_;
  bool blocking_next_ = false;  // the two lists take turns
  std::list<Worker> workers_;
  std::list<Worker> ended_;
  std::size_t ready_ = 0;  // jobs in all lists
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
  /// Why the last thread could not be created; none if it could. Nobody tries before `retry_at_`.
  std::error_code refused_;
  bool refusal_reported_ = false;
  std::chrono::steady_clock::time_point retry_at_;
};

}  // namespace kube::detail
