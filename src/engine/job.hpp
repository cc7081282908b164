// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace kube::detail {

class Scheduler;

/// Which threads may run a job.
enum class Placement : std::uint8_t {
  kLoop,  ///< the Loop's thread only: touches sockets
  kLibrary,  ///< any thread of the Runtime: never blocks. What the loop itself schedules, it runs if it has time
  kBlocking,  ///< workers only: calls user code that may block
  kUrgent,  ///< workers only: calls user code that should return soon, also while others block (health checks)
};

/// Work that runs whenever it has been scheduled, one run at a time: the state machine of an informer, the deliveries of
/// a handler (in other words a strand). Scheduling neither allocates nor fails, so no wake-up is lost for want of memory.
///
/// A job is always owned by a shared_ptr; the scheduler holds one while it is queued or running.
class Job : public Waker, public std::enable_shared_from_this<Job> {
 public:
  explicit Job(Placement placement) noexcept : placement_(placement) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Names the scheduler that runs it. Once, before the first schedule().
  void bind(std::shared_ptr<Scheduler> scheduler) noexcept { scheduler_ = std::move(scheduler); }
  /// Has run() called soon, by a thread that sees all that the caller did before. Any number of calls before run()
  /// begins cause one run; a call during a run causes another run after it. From any thread. After the scheduler has
  /// been closed it does nothing.
  void schedule() noexcept;
  void wake() noexcept final { schedule(); }

  [[nodiscard]] Placement placement() const noexcept { return placement_; }
  /// Names it in reports of calls that block. Never changes, as other threads ask while it runs.
  [[nodiscard]] virtual std::string_view name() const noexcept { return "a task"; }
  /// Has it run by workers from now on, if there are any: it takes too long for the loop's thread.
  void leave_loop() noexcept { leaves_loop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool leaves_loop() const noexcept {
    return leaves_loop_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept { return scheduler_; }

 protected:
  ~Job() override = default;

  /// Does a limited amount of work. If there is more, it calls schedule() and returns, so that others get their turn.
  virtual void run() noexcept = 0;

 private:
  friend class JobList;
  friend class Scheduler;

  enum class State : std::uint8_t { kIdle, kQueued, kRunning, kRunningAgain };

  void execute() noexcept;

  std::atomic<State> state_ = State::kIdle;
  const Placement placement_;
  std::atomic<bool> leaves_loop_ = false;
  std::shared_ptr<Scheduler> scheduler_;
  // For JobList:
  Job* next_ = nullptr;
  std::shared_ptr<Job> self_;  ///< set while it is in a list
};

/// FIFO of jobs, linked through the jobs themselves. Thread safety: none.
class JobList {
 public:
  JobList() = default;
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;
  ~JobList() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(std::shared_ptr<Job> job) noexcept;
  /// Null if the list is empty.
  [[nodiscard]] std::shared_ptr<Job> pop() noexcept;
  /// Moves all jobs of `other` to the end of this list.
  void append(JobList& other) noexcept;
  void swap(JobList& other) noexcept;
  void clear() noexcept;

 private:
  Job* first_ = nullptr;
  Job* last_ = nullptr;
};

}  // namespace kube::detail
