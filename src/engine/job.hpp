// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/waker.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace kube::detail {

class Scheduler;

/// The threads that may run a job.
enum class Placement : std::uint8_t {
  kLoop,  ///< the loop's thread only: uses sockets
  /// Any thread of the Runtime: never blocks; the loop runs its own ones itself if it has time.
  kLibrary,
  kBlocking,  ///< workers only: calls user code that may block
  /// Workers only: calls user code that returns soon, even while others block (health checks).
  kUrgent,
};

/// Work that runs whenever it is scheduled, one run at a time (a strand): the state machine of an
/// informer, the deliveries of a handler. Scheduling neither allocates nor fails, so that no
/// wake-up is lost for lack of memory.
///
/// Ownership: always owned by a shared_ptr; the scheduler holds one while the job is queued or
/// running.
class Job : public Waker, public std::enable_shared_from_this<Job> {
 public:
  explicit Job(Placement placement) noexcept : placement_(placement) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Sets the scheduler. Call once, before the first schedule().
  void bind(std::shared_ptr<Scheduler> scheduler) noexcept { scheduler_ = std::move(scheduler); }
  /// Requests a call of run(), on a thread that sees all earlier writes of the caller
  /// (happens-before). Any number of calls before run() starts are coalesced into one run; a call
  /// during a run causes another run. Does nothing after the scheduler was closed. From any thread.
  void schedule() noexcept;
  void wake() noexcept final { schedule(); }

  [[nodiscard]] Placement placement() const noexcept { return placement_; }
  /// Names the job in reports of calls that block. Constant, as other threads read it while the job
  /// runs.
  [[nodiscard]] virtual std::string_view name() const noexcept { return "a task"; }
  /// Moves the job from the loop's thread to workers, if there are any, because it takes too long.
  void leave_loop() noexcept { leaves_loop_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool leaves_loop() const noexcept {
    return leaves_loop_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::shared_ptr<Scheduler>& scheduler() const noexcept { return scheduler_; }

 protected:
  ~Job() override = default;

  /// Does a bounded amount of work. If there is more, calls schedule() and returns, so that other
  /// jobs have their turn.
  virtual void run() noexcept = 0;

 private:
  friend class JobList;
  friend class Scheduler;

  enum class State : std::uint8_t { kIdle, kQueued, kRunning, kRunningAgain };

  /// Calls run(). Returns true if the job was scheduled meanwhile: the caller has to queue it again.
  [[nodiscard]] bool execute() noexcept;

  std::atomic<State> state_ = State::kIdle;
  const Placement placement_;
  std::atomic<bool> leaves_loop_ = false;
  std::shared_ptr<Scheduler> scheduler_;
  // Used by JobList:
  Job* next_ = nullptr;
  std::shared_ptr<Job> self_;  ///< set while it is in a list
};

/// Intrusive FIFO of jobs. Thread safety: none.
class JobList {
 public:
  JobList() = default;
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;
  ~JobList() { clear(); }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void push(std::shared_ptr<Job> job) noexcept;
  /// Returns null if the list is empty.
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
