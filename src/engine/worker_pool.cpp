// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "scheduler.hpp"
#include "thread.hpp"
#include "timer.hpp"

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto kStuckAfter = 10ms;
constexpr auto kIdleEnd = 10s;
constexpr auto kRetryRefused = 1s;

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

/// Looks after the workers while jobs wait, on the loop's thread: the one that never blocks.
class WorkerPool::Watchdog final : public Job {
 public:
  Watchdog(const std::shared_ptr<Scheduler>& scheduler, std::weak_ptr<WorkerPool> pool)
      : Job(Placement::kLoop), pool_(std::move(pool)), timer_(scheduler, system_clock()) {
    bind(scheduler);
  }

  void look_in(Clock::Duration pause) noexcept {
    timer_.set(system_clock().now() + pause, weak_from_this());
  }

 private:
  void run() noexcept override {
    const auto pool = pool_.lock();
    if (pool == nullptr) return;
    if (const auto pause = pool->look()) look_in(*pause);
  }

  const std::weak_ptr<WorkerPool> pool_;
  Timer timer_;
};

WorkerPool::WorkerPool(WorkerPoolOptions options, Logger log)
    : options_(options), log_(std::move(log)) {}

WorkerPool::~WorkerPool() { close(Close::kAtOnce); }

void WorkerPool::start(const std::shared_ptr<Scheduler>& scheduler) {
  auto watchdog = std::make_shared<Watchdog>(scheduler, weak_from_this());
  const std::lock_guard guard{mutex_};
  watchdog_ = std::move(watchdog);
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
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    (job->placement() == Placement::kBlocking ? blocking_ : library_).push(std::move(job));
    if (idle_ > 0) {
      wake = true;
    } else if (workers_.size() >= options_.threads || refused_ || !add_locked()) {
      if (!std::exchange(watched_, true)) watchdog = watchdog_;
    }
  }
  if (wake) work_.notify_one();
  if (watchdog) watchdog->look_in(kStuckAfter);
}

bool WorkerPool::add_locked() noexcept {
  refused_ = true;
  try {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread =
          make_thread(fmt::format("kube-work-{}", next_number_),
                      [self = shared_from_this(), &worker] { self->work(worker); });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
    worker.has_clock = ::pthread_getcpuclockid(worker.thread.native_handle(), &worker.cpu_clock) == 0;
  } catch (const std::system_error& error) {
    log_.warning("a worker thread could not be created, goes on with {}: {}; raise the limit of "
                 "threads, or lower RuntimeOptions::threads",
                 workers_.size(), error.code().message());
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++next_number_;
  refused_ = false;
  return true;
}

bool WorkerPool::may_block_locked() const noexcept {
  return options_.max_threads == 0 || in_blocking_ < options_.max_threads;
}

bool WorkerPool::has_work_locked() const noexcept {
  return !library_.empty() || (!blocking_.empty() && may_block_locked());
}

std::shared_ptr<Job> WorkerPool::take_locked() noexcept {
  const bool may_block = !blocking_.empty() && may_block_locked();
  if (may_block && (blocking_next_ || library_.empty())) {
    blocking_next_ = false;
    return blocking_.pop();
  }
  blocking_next_ = true;
  return library_.pop();
}

void WorkerPool::work(Worker& worker) noexcept {
  progress_of_this_thread() = &worker.progress;
  std::unique_lock lock{mutex_};
  for (;;) {
    while (std::shared_ptr<Job> job = closed_ ? nullptr : take_locked()) {
      const bool blocking = job->placement() == Placement::kBlocking;
      if (blocking) ++in_blocking_;
      lock.unlock();
      note_progress();
      Scheduler::execute(*job);
      job.reset();  // may be the last owner
      lock.lock();
      if (blocking) --in_blocking_;
    }
    if (closed_) break;
    ++idle_;
    const bool extra = workers_.size() > options_.threads;
    const bool busy = work_.wait_until(
        lock, {},
        extra ? std::chrono::steady_clock::now() + kIdleEnd : Condition::TimePoint::max(),
        [&] { return closed_ || has_work_locked(); });
    --idle_;
    if (!busy && workers_.size() > options_.threads) break;
  }
  // A thread cannot join itself: the watchdog or close() does.
  const auto self = std::find_if(workers_.begin(), workers_.end(),
                                 [&](const Worker& each) { return &each == &worker; });
  ended_.splice(ended_.end(), workers_, self);
  progress_of_this_thread() = nullptr;
  lock.unlock();
  work_.notify_all();  // close() may wait for it
}

bool WorkerPool::are_all_stuck_locked() noexcept {
  bool stuck = true;
  std::size_t computing = 0;
  for (Worker& worker : workers_) {
    const std::uint64_t progress = worker.progress.load(std::memory_order_relaxed);
    const std::chrono::nanoseconds cpu = worker.has_clock ? cpu_time(worker.cpu_clock) : 0ns;
    stuck = stuck && progress == worker.seen_progress;
    if (cpu - worker.seen_cpu > kStuckAfter / 2) ++computing;
    worker.seen_progress = progress;
    worker.seen_cpu = cpu;
  }
  // More threads than processors do not make computations any faster.
  return stuck && computing < std::max(1U, std::thread::hardware_concurrency());
}

std::optional<std::chrono::nanoseconds> WorkerPool::look() noexcept {
  join_ended();
  {
    const std::lock_guard guard{mutex_};
    watched_ = !closed_ && has_work_locked();
    if (!watched_) return std::nullopt;
    if (idle_ > 0) return kStuckAfter;  // it has been told, and is on its way
    const bool below_limit = options_.max_threads == 0 || workers_.size() <= options_.max_threads;
    if (workers_.size() < options_.threads || (are_all_stuck_locked() && below_limit)) {
      (void)add_locked();
    }
    if (!workers_.empty()) return refused_ ? kRetryRefused : kStuckAfter;
  }
  run_library_jobs();
  return kStuckAfter;
}

void WorkerPool::run_library_jobs() noexcept {
  JobList jobs;
  {
    const std::lock_guard guard{mutex_};
    jobs.swap(library_);
  }
  while (const std::shared_ptr<Job> job = jobs.pop()) Scheduler::execute(*job);
}

void WorkerPool::join_ended() noexcept {
  std::list<Worker> ended;
  {
    const std::lock_guard guard{mutex_};
    ended.swap(ended_);
  }
  for (Worker& worker : ended) {
    if (worker.thread.joinable()) worker.thread.join();
  }
}

void WorkerPool::close(Close how) noexcept {
  JobList library;
  JobList blocking;
  std::shared_ptr<Watchdog> watchdog;
  {
    std::unique_lock lock{mutex_};
    closed_ = true;
    library.swap(library_);
    blocking.swap(blocking_);
    watchdog.swap(watchdog_);
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
