// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <system_error>
#include <utility>

#include "scheduler.hpp"
#include "thread.hpp"
#include "timer.hpp"

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto kStuckAfter = 10ms;
/// A worker that used this much processor time between two checks is busy, not blocked.
constexpr auto kComputes = kStuckAfter / 2;
constexpr auto kRetryRefused = 1s;
/// How long the loop's thread runs jobs for missing workers before it polls its sockets again.
constexpr auto kSlice = 1ms;
/// How many jobs that block a warning names.
constexpr std::size_t kNamed = 8;

std::atomic<std::uint64_t>*& progress_of_this_thread() noexcept {
  thread_local std::atomic<std::uint64_t>* progress = nullptr;
  return progress;
}

std::chrono::nanoseconds cpu_time(clockid_t clock) noexcept {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

/// Checks the pool again and again, until nothing is left to check. Runs on the loop's thread,
/// which never blocks.
class WorkerPool::Watchdog : public Job {
 public:
  Watchdog(const std::shared_ptr<Scheduler>& scheduler, std::weak_ptr<WorkerPool> pool)
      : Job(Placement::kLoop), pool_(std::move(pool)), timer_(scheduler, system_clock()) {
    bind(scheduler);
  }

  void check_in(Clock::Duration pause) noexcept {
    timer_.set(system_clock().now() + pause, weak_from_this());
  }

 private:
  void run() noexcept override {
    const auto pool = pool_.lock();
    if (pool == nullptr) return;
    if (const auto pause = check(*pool)) check_in(*pause);
  }
  /// Returns the delay until the next check, or nullopt if none is needed.
  virtual std::optional<std::chrono::nanoseconds> check(WorkerPool& pool) noexcept = 0;

  const std::weak_ptr<WorkerPool> pool_;
  Timer timer_;
};

/// Checks for stuck workers while jobs are queued.
class WorkerPool::WorkerWatchdog final : public Watchdog {
 public:
  using Watchdog::Watchdog;

 private:
  std::optional<std::chrono::nanoseconds> check(WorkerPool& pool) noexcept override {
    return pool.check_workers();
  }
};

/// Checks for jobs that wait only because of the limit of blocking ones.
class WorkerPool::LimitWatchdog final : public Watchdog {
 public:
  using Watchdog::Watchdog;

 private:
  std::optional<std::chrono::nanoseconds> check(WorkerPool& pool) noexcept override {
    return pool.check_limit();
  }
};

WorkerPool::WorkerPool(WorkerPoolOptions options, Logger log)
    : options_(options), log_(std::move(log)) {}

WorkerPool::~WorkerPool() { close(Close::kAtOnce); }

void WorkerPool::start(const std::shared_ptr<Scheduler>& scheduler) {
  auto watchdog = std::make_shared<WorkerWatchdog>(scheduler, weak_from_this());
  auto limit = std::make_shared<LimitWatchdog>(scheduler, weak_from_this());
  const std::lock_guard guard{mutex_};
  watchdog_ = std::move(watchdog);
  limit_watchdog_ = std::move(limit);
}

void WorkerPool::note_progress() noexcept {
  if (auto* const progress = progress_of_this_thread()) {
    progress->fetch_add(1, std::memory_order_relaxed);
  }
}

std::size_t WorkerPool::size() const {
  const std::lock_guard guard{mutex_};
  return workers_.size();
}

void WorkerPool::push(std::shared_ptr<Job> job) noexcept {
  bool wake = false;
  std::shared_ptr<Watchdog> watchdog;
  std::shared_ptr<Watchdog> limit;
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    list_of_locked(job->placement()).push(std::move(job));
    ++ready_;
    wake = idle_ > 0;
    // Idle workers may have been woken for other jobs, which may never end.
    if (idle_ < ready_) {
      const bool may_add = workers_.size() < options_.threads && !refused_;
      if (!may_add || !add_locked()) watchdog = watch_locked();
    }
    limit = watch_limit_locked();
  }
  if (wake) work_.notify_one();
  if (watchdog) watchdog->check_in(kStuckAfter);
  if (limit) limit->check_in(options_.report_after);
}

void WorkerPool::queue_again(std::shared_ptr<Job> job, std::unique_lock<std::mutex>& lock) noexcept {
  if (closed_) {
    lock.unlock();
    job.reset();  // may be the last owner
    lock.lock();
    return;
  }
  list_of_locked(job->placement()).push(std::move(job));
  ++ready_;
}

std::shared_ptr<WorkerPool::Watchdog> WorkerPool::watch_locked() noexcept {
  return std::exchange(watched_, true) ? nullptr : watchdog_;
}

std::shared_ptr<WorkerPool::Watchdog> WorkerPool::watch_limit_locked() noexcept {
  if (!is_limit_reached_locked()) return nullptr;
  if (!held_since_) held_since_ = std::chrono::steady_clock::now();
  return std::exchange(limit_watched_, true) ? nullptr : limit_watchdog_;
}

bool WorkerPool::add_locked() noexcept {
  try {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread = make_thread(fmt::format("{}-{}", options_.name, next_number_),
                                  [self = shared_from_this(), &worker] { self->work(worker); });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
    worker.has_clock =
        ::pthread_getcpuclockid(worker.thread.native_handle(), &worker.cpu_clock) == 0;
    ++next_number_;
    refused_.clear();
    refusal_reported_ = false;
    return true;
  } catch (const std::system_error& error) {
    refused_ = error.code();
  } catch (...) {
    refused_ = std::make_error_code(std::errc::not_enough_memory);
  }
  retry_at_ = std::chrono::steady_clock::now() + kRetryRefused;
  return false;
}

void WorkerPool::report_refusal() noexcept {
  std::error_code refused;
  std::size_t workers = 0;
  {
    const std::lock_guard guard{mutex_};
    if (!refused_ || std::exchange(refusal_reported_, true)) return;
    refused = refused_;
    workers = workers_.size();
  }
  try {
    log_.warning(
        "a worker thread could not be created, continuing with {}: {}; raise the limit of "
        "threads, or lower RuntimeOptions::threads",
        workers, refused.message());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a log line is lost
  }
}

bool WorkerPool::may_block_locked() const noexcept {
  return options_.max_threads == 0 || in_blocking_ < options_.max_threads;
}

bool WorkerPool::is_limit_reached_locked() const noexcept {
  return !blocking_.empty() && !may_block_locked();
}

bool WorkerPool::has_work_locked() const noexcept {
  return !urgent_.empty() || !library_.empty() || (!blocking_.empty() && may_block_locked());
}

JobList& WorkerPool::list_of_locked(Placement placement) noexcept {
  if (placement == Placement::kUrgent) return urgent_;
  return placement == Placement::kBlocking ? blocking_ : library_;
}

std::shared_ptr<Job> WorkerPool::take_locked() noexcept {
  if (!urgent_.empty()) {
    --ready_;
    return urgent_.pop();
  }
  const bool may_block = !blocking_.empty() && may_block_locked();
  if (may_block && (blocking_next_ || library_.empty())) {
    blocking_next_ = false;
    --ready_;
    std::shared_ptr<Job> job = blocking_.pop();
    if (blocking_.empty()) held_since_.reset();
    return job;
  }
  blocking_next_ = true;
  if (!library_.empty()) --ready_;
  return library_.pop();
}

void WorkerPool::work(Worker& worker) noexcept {
  progress_of_this_thread() = &worker.progress;
  std::unique_lock lock{mutex_};
  worker.id = ::gettid();
  for (;;) {
    while (std::shared_ptr<Job> job = closed_ ? nullptr : take_locked()) {
      const bool blocking = job->placement() == Placement::kBlocking;
      const bool urgent = job->placement() == Placement::kUrgent;
      std::shared_ptr<Watchdog> limit;
      if (blocking) {
        ++in_blocking_;
        worker.blocking = job.get();
        worker.blocking_since = std::chrono::steady_clock::now();
        limit = watch_limit_locked();
      }
      if (urgent) ++in_urgent_;
      lock.unlock();
      if (limit) limit->check_in(options_.report_after);
      note_progress();
      const bool again = Scheduler::run(*job);
      if (blocking) {
        const std::lock_guard guard{worker.naming};
        worker.blocking = nullptr;
      }
      if (!again) job.reset();  // may be the last owner
      note_progress();
      lock.lock();
      if (urgent) --in_urgent_;
      if (blocking) {
        // Sleeping workers were not woken for a job that the limit held back.
        if (!may_block_locked() && !blocking_.empty() && idle_ > 0) work_.notify_one();
        --in_blocking_;
      }
      if (again) queue_again(std::move(job), lock);
    }
    if (closed_) break;
    ++idle_;
    const bool extra = workers_.size() > options_.kept.value_or(options_.threads);
    const bool busy = work_.wait_until(
        lock, {},
        extra ? std::chrono::steady_clock::now() + options_.idle_end : Condition::TimePoint::max(),
        [&] { return closed_ || has_work_locked(); });
    --idle_;
    if (!busy && workers_.size() > options_.kept.value_or(options_.threads)) break;
  }
  // A thread cannot join itself: the next worker that ends, the watchdog or close() joins it.
  std::list<Worker> ended;
  ended.swap(ended_);
  const auto self = std::find_if(workers_.begin(), workers_.end(),
                                 [&](const Worker& each) { return &each == &worker; });
  ended_.splice(ended_.end(), workers_, self);
  progress_of_this_thread() = nullptr;
  lock.unlock();
  work_.notify_all();  // close() may be waiting for this
  join(ended);
}

bool WorkerPool::are_all_stuck_locked() noexcept {
  if (note_seen_progress_locked()) return false;
  // More threads than processors do not speed up computations.
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  std::size_t computing = 0;
  for (Worker& worker : workers_) {
    const std::chrono::nanoseconds cpu = worker.has_clock ? cpu_time(worker.cpu_clock) : 0ns;
    const bool busy = cpu - std::exchange(worker.seen_cpu, cpu) > kComputes;
    // On a busy machine it may have waited for a processor all the time.
    if (busy || is_runnable(worker.id)) ++computing;
    if (computing == processors) return false;
  }
  // A worker that has finished its job meanwhile may be waiting for this lock.
  return !note_seen_progress_locked();
}

bool WorkerPool::note_seen_progress_locked() noexcept {
  bool any = false;
  for (Worker& worker : workers_) {
    const std::uint64_t progress = worker.progress.load(std::memory_order_relaxed);
    any = any || worker.id == 0 || progress != worker.seen_progress;
    worker.seen_progress = progress;
  }
  return any;
}

std::optional<std::chrono::nanoseconds> WorkerPool::check_workers() noexcept {
  join_ended();
  bool run_here = false;
  {
    const std::lock_guard guard{mutex_};
    watched_ = !closed_ && has_work_locked();
    if (!watched_) return std::nullopt;
    if (idle_ > 0) return kStuckAfter;  // it has been woken and is about to take the job
    run_here = help_locked();
  }
  report_refusal();
  const bool more = run_here && run_library_jobs();
  return more ? 0ms : kStuckAfter;
}

bool WorkerPool::help_locked() noexcept {
  const bool stuck = are_all_stuck_locked();
  const bool below_limit =
      options_.max_threads == 0 || workers_.size() <= options_.max_threads + in_urgent_;
  const bool wanted = workers_.size() < options_.threads || (stuck && below_limit);
  if (wanted && (!refused_ || std::chrono::steady_clock::now() >= retry_at_)) (void)add_locked();
  return refused_ && stuck;
}

std::vector<WorkerPool::Blocked> WorkerPool::blocked() const {
  const std::lock_guard guard{mutex_};
  return blocked_locked();
}

std::vector<WorkerPool::Blocked> WorkerPool::blocked_locked() const {
  std::vector<Blocked> blocked;
  if (!is_limit_reached_locked()) return blocked;
  const auto now = std::chrono::steady_clock::now();
  for (const Worker& worker : workers_) {
    const std::lock_guard guard{worker.naming};
    if (worker.blocking == nullptr) continue;
    const auto time = now - worker.blocking_since;
    if (time >= kStuckAfter) blocked.push_back({std::string{worker.blocking->name()}, time});
  }
  std::ranges::sort(blocked, std::greater{}, &Blocked::time);
  return blocked;
}

std::optional<std::chrono::nanoseconds> WorkerPool::check_limit() noexcept {
  std::vector<Blocked> blocked;
  {
    const std::lock_guard guard{mutex_};
    limit_watched_ = !closed_ && is_limit_reached_locked();
    if (!limit_watched_) return std::nullopt;
    const auto now = std::chrono::steady_clock::now();
    if (!held_since_) held_since_ = now;
    auto due = *held_since_ + options_.report_after;
    if (limit_reported_) due = std::max(due, *limit_reported_ + options_.report_every);
    if (now < due) return due - now;
    try {
      blocked = blocked_locked();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): tried again
    }
    if (blocked.empty())
      return std::max<std::chrono::nanoseconds>(options_.report_after, kStuckAfter);
    limit_reported_ = now;
  }
  report_limit(blocked);
  return options_.report_every;
}

void WorkerPool::report_limit(const std::vector<Blocked>& blocked) const noexcept {
  try {
    std::string names;
    for (std::size_t i = 0; i < std::min(blocked.size(), kNamed); ++i) {
      names += fmt::format("{}{} for {:.1f} s", i == 0 ? "" : ", ", blocked[i].name,
                           std::chrono::duration<double>(blocked[i].time).count());
    }
    if (blocked.size() > kNamed) names += fmt::format(" and {} more", blocked.size() - kNamed);
    log_.warning(
        "handlers wait, as all {} threads that may block do so: {}; let these return sooner, or "
        "raise RuntimeOptions::max_threads",
        options_.max_threads, names);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a line of the log is lost
  }
}

bool WorkerPool::run_library_jobs() noexcept {
  const auto end = std::chrono::steady_clock::now() + kSlice;
  do {
    std::shared_ptr<Job> job;
    {
      const std::lock_guard guard{mutex_};
      if (library_.empty()) return false;
      --ready_;
      job = library_.pop();
    }
    Scheduler::execute(std::move(job));
  } while (std::chrono::steady_clock::now() < end);
  return true;
}

void WorkerPool::join_ended() noexcept {
  std::list<Worker> ended;
  {
    const std::lock_guard guard{mutex_};
    ended.swap(ended_);
  }
  join(ended);
}

void WorkerPool::join(std::list<Worker>& ended) noexcept {
  for (Worker& worker : ended) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void WorkerPool::close(Close how) noexcept {
  JobList urgent;
  JobList library;
  JobList blocking;
  std::shared_ptr<Watchdog> watchdog;
  std::shared_ptr<Watchdog> limit_watchdog;
  {
    std::unique_lock lock{mutex_};
    closed_ = true;
    urgent.swap(urgent_);
    library.swap(library_);
    blocking.swap(blocking_);
    ready_ = 0;
    watchdog.swap(watchdog_);
    limit_watchdog.swap(limit_watchdog_);
    work_.notify_all();
    if (how == Close::kAtOnce) {
      for (Worker& worker : workers_) {
        if (worker.thread.joinable()) worker.thread.detach();
      }
    } else {
      work_.wait(lock, [&] { return workers_.empty(); });
    }
  }
  join_ended();
}

bool WorkerPool::is_here() const {
  const std::lock_guard guard{mutex_};
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& worker) {
    return &worker.progress == progress_of_this_thread();
  });
}

}  // namespace kube::detail
