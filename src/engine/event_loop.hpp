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

/// Waits for file descriptors, timers, jobs and posted tasks in one place (epoll), and runs the jobs that have to run
/// there. One thread at a time runs it. See Loop for what the public methods promise.
///
/// Thread safety: wake(), push(), post(), timers() and time_changed() from any thread; the rest from the thread that
/// runs it, or from any if none does.
class EventLoop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  /// Throws std::system_error if there is no file descriptor left.
  explicit EventLoop(Logger log);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void push(std::shared_ptr<Job> job) noexcept;
  /// The loop runs the job itself if no socket has more to read, for a short time; otherwise workers do. Only for the
  /// thread that runs the loop.
  void push_inline(std::shared_ptr<Job> job) noexcept;
  /// Throws std::bad_alloc, and std::invalid_argument for an empty function. After close() the task is destroyed at once.
  void post(std::function<void()> task);
  /// Ends a wait.
  void wake() noexcept;
  /// A timer was set; ends a wait that would last longer than until `next`.
  void time_changed(TimePoint next) noexcept;
  [[nodiscard]] std::shared_ptr<TimerQueue> timers(Clock& clock);

  /// Throws std::logic_error if another thread runs the loop, a task of the loop calls it, or another thread closes the
  /// loop meanwhile.
  void run(const std::stop_token& stop);
  /// Throws as run().
  bool run_ready(Duration budget);
  /// Throws std::system_error, and std::logic_error if another thread runs the loop.
  [[nodiscard]] int descriptor();
  /// Destroys all jobs and tasks without running them, and refuses further ones. A thread that runs the loop leaves it.
  void close() noexcept;
  /// For a call that waits for something the loop has to do: runs it until `done()`, if no other thread runs it, or ran it
  /// last; until the deadline at the latest, or another thread comes to run it. Throws what `done` throws.
  void drive(const std::function<bool()>& done, TimePoint deadline = TimePoint::max());
  /// Calls the function as the thread that runs the loop would, unless another one does. Returns whether it was called.
  bool call_if_idle(const std::function<void()>& function);
  /// Throws ForkedError in a child of the process that made it.
  void check_process() const { process_.check("the Runtime"); }
  /// Whether the calling thread runs the loop now.
  [[nodiscard]] bool is_here() const noexcept;

 private:
  friend class Descriptor;
  friend class TimerQueue;
  class Running;
  using Descriptors =
      boost::intrusive::list<Descriptor, boost::intrusive::constant_time_size<false>>;

  /// Runs what is ready, until `end` at the latest. Waits for it before, but not longer than until `deadline`.
  void turn(TimePoint deadline, TimePoint end) noexcept;
  /// Returns whether any descriptor was ready.
  bool collect_events(int timeout_ms) noexcept;
  void try_all_descriptors() noexcept;
  void fire_timers() noexcept;
  /// Runs the jobs and tasks that are there now, not those that they add; one of each at least.
  void run_pending(TimePoint end) noexcept;
  /// Runs the jobs of push_inline(), or gives them to workers if `reads_more`: sockets come first.
  void run_inline(bool reads_more) noexcept;
  [[nodiscard]] std::function<void()> take_task() noexcept;
  void call(const std::function<void()>& task) const noexcept;
  /// From now on others wake it. Returns when it has to go on by itself: at once (TimePoint::min()) if something has come
  /// meanwhile.
  [[nodiscard]] TimePoint prepare_wait() noexcept;
  [[nodiscard]] TimePoint next_timer() const noexcept;
  void arm(TimePoint next) noexcept;
  /// Makes the eventfd readable, whether or not somebody has done so before.
  void ring() noexcept;
  void forget(const Descriptor& descriptor) noexcept;
  void forget(const TimerQueue& queue) noexcept;

  const Logger log_;
  const ProcessMark process_;
  const FileDescriptor epoll_;
  const FileDescriptor wake_;
  std::optional<FileDescriptor> timer_;  // for descriptor() only
  TimePoint armed_ = TimePoint::max();
  /// It is running or has been told to; nobody has to tell it again.
  std::atomic<bool> awake_ = true;
  /// A wait ends here, as a count of the steady clock; the least number while it does not wait.
  std::atomic<Duration::rep> waits_until_ = Duration::min().count();
  std::atomic<std::uintptr_t> runner_ = 0;       // the thread that runs it
  std::atomic<std::uintptr_t> last_runner_ = 0;  // the same, and stays when it does not
  /// A thread wants to run it, and waits for the call that drives it.
  std::atomic<bool> claimed_ = false;

  Descriptors descriptors_;
  std::size_t descriptors_destroyed_ = 0;
  /// The events that collect_events() goes through.
  std::span<epoll_event> events_;
  /// epoll_ctl() or epoll_wait() failed, for want of memory most likely: all descriptors are tried again soon.
  bool blind_ = false;
  /// epoll_wait() returned as many events as fit; there may be more.
  bool more_events_ = false;
  /// Turns in a row in which jobs of push_inline() waited because sockets were read.
  int put_off_ = 0;

  std::atomic<bool> closed_ = false;           // written with mutex_
  std::atomic<bool> closed_by_other_ = false;  // than the thread that ran it
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  JobList jobs_;
  JobList inline_;
  std::list<std::function<void()>> posted_;  // not a deque, which allocates when it is made

  /// A queue leaves the list before it is destroyed, and its clock may go only after that: so queues and clocks are used
  /// with this lock.
  mutable std::mutex timers_mutex_;
  struct Timers {
    TimerQueue* queue;
    std::weak_ptr<TimerQueue> owner;
  };
  std::vector<Timers> timers_;  // guarded by timers_mutex_
};

}  // namespace kube::detail
