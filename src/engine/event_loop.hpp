// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include "base/fork.hpp"
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "descriptor.hpp"
#include "job.hpp"
#include "timer.hpp"

namespace kube::detail {

/// Waits for file descriptors, timers, jobs and posted tasks (epoll), and runs the jobs that must
/// run on the loop. One thread at a time runs it. Loop documents the contracts of the public
/// methods.
///
/// Thread safety: wake(), push(), post(), timers() and time_changed() from any thread; the rest
/// from the thread that runs the loop, or from any thread if none does.
class EventLoop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// Throws std::system_error if no file descriptor is available.
  explicit EventLoop(Logger log);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void push(std::shared_ptr<Job> job) noexcept;
  /// Runs the job on the loop for a short time if no socket has more to read; otherwise passes it
  /// to workers. Only for the thread that runs the loop.
  void push_inline(std::shared_ptr<Job> job) noexcept;
  /// Throws std::bad_alloc, and std::invalid_argument for an empty function. After close(),
  /// destroys the task at once.
  void post(std::function<void()> task);
  /// Ends a wait of the loop.
  void wake() noexcept;
  /// Called after a timer was set. Ends a wait that would last longer than until `next`.
  void time_changed(TimePoint next) noexcept;
  [[nodiscard]] std::shared_ptr<TimerQueue> timers(Clock& clock);

  /// Throws std::logic_error if another thread runs the loop, if it is called from a task of the
  /// loop, or if another thread closes the loop meanwhile.
  void run(const std::stop_token& stop);
  /// Throws as run().
  bool run_ready(Duration budget);
  /// Throws std::system_error, and std::logic_error if another thread runs the loop.
  [[nodiscard]] int descriptor();
  /// Destroys all jobs and tasks without running them, and refuses further ones. A thread that runs
  /// the loop leaves it.
  void close() noexcept;
  /// Used by a call that waits for work of the loop. Runs the loop until `done()` returns true, the
  /// deadline passes, or another thread wants to run it. Does nothing if another thread runs it, or
  /// was the last to run it. Throws what `done` throws.
  void drive(const std::function<bool()>& done, TimePoint deadline = TimePoint::max());
  /// Calls the function in the role of the loop's thread, unless another thread has it. Returns
  /// true if it was called.
  bool call_if_idle(const std::function<void()>& function);
  /// Throws ForkedError in a child of the process that created the loop.
  void check_process() const { process_.check("the Runtime"); }
  /// True if the calling thread runs the loop now.
  [[nodiscard]] bool is_here() const noexcept;

 private:
  friend class Descriptor;
  friend class TimerQueue;
  class Running;
  using Descriptors =
      boost::intrusive::list<Descriptor, boost::intrusive::constant_time_size<false>>;

  /// Waits until work is ready, at most until `deadline`, then runs it, at most until `end`.
  void turn(TimePoint deadline, TimePoint end) noexcept;
  /// Returns true if any descriptor was ready.
  bool collect_events(int timeout_ms) noexcept;
  void try_all_descriptors() noexcept;
  void fire_timers() noexcept;
  /// Runs the jobs and tasks that are queued now, not those that they add; at least one of each.
  void run_pending(TimePoint end) noexcept;
  /// Runs the jobs of push_inline(), or passes them to workers if `reads_more`: sockets have
  /// priority.
  void run_inline(bool reads_more) noexcept;
  [[nodiscard]] std::function<void()> take_task() noexcept;
  void call(const std::function<void()>& task) const noexcept;
  /// Prepares for a wait: from now on, other threads wake the loop. Returns the time of the next
  /// timer, or TimePoint::min() if work has arrived meanwhile.
  [[nodiscard]] TimePoint prepare_wait() noexcept;
  [[nodiscard]] TimePoint next_timer() const noexcept;
  void arm(TimePoint next) noexcept;
  /// Makes the eventfd readable unconditionally.
  void ring() noexcept;
  void forget(const Descriptor& descriptor) noexcept;
  void forget(const TimerQueue& queue) noexcept;

  const Logger log_;
  const ProcessMark process_;
  const FileDescriptor epoll_;
  const FileDescriptor wake_;
  std::optional<FileDescriptor> timer_;  // for descriptor() only
  TimePoint armed_ = TimePoint::max();
  /// True if the loop is running or has been woken; a further wake-up is not needed.
  std::atomic<bool> awake_ = true;
  /// The end of the current wait, as a count of the steady clock; the minimum while it does not
  /// wait.
  std::atomic<Duration::rep> waits_until_ = Duration::min().count();
  std::atomic<std::uintptr_t> runner_ = 0;       // the thread that runs the loop, or 0
  std::atomic<std::uintptr_t> last_runner_ = 0;  // the thread that ran it last
  /// True while a thread that wants to run the loop waits for a driving call to yield it.
  std::atomic<bool> claimed_ = false;

  Descriptors descriptors_;
  std::size_t descriptors_destroyed_ = 0;
  /// The events that collect_events() is processing.
  std::span<epoll_event> events_;
  /// Set when epoll_ctl() or epoll_wait() failed, most likely for lack of memory: all descriptors
  /// are retried soon.
  bool blind_ = false;
  /// True if epoll_wait() returned as many events as fit; there may be more.
  bool more_events_ = false;
  /// Consecutive turns in which jobs of push_inline() were postponed in favour of sockets.
  int postponed_turns_ = 0;

  std::atomic<bool> closed_ = false;           // written with mutex_
  std::atomic<bool> closed_by_other_ = false;  // by a thread that did not run it
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  JobList jobs_;
  JobList inline_;
  std::list<std::function<void()>> posted_;  // not a deque, whose constructor allocates

  /// Guards queues and clocks while they are used: a queue is removed from the list before it is
  /// destroyed, and its clock may be destroyed after that.
  mutable std::mutex timers_mutex_;
  struct Timers {
    TimerQueue* queue;
    std::weak_ptr<TimerQueue> owner;
  };
  std::vector<Timers> timers_;  // guarded by timers_mutex_
};

}  // namespace kube::detail
