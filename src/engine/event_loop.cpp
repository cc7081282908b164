// SPDX-License-Identifier: Apache-2.0
#include "event_loop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "scheduler.hpp"

#include "base/no_wait.hpp"

namespace kube::detail {

namespace {

constexpr std::size_t kEventsAtOnce = 64;
/// Timers fired per turn. Bounded, because other threads may set due timers faster than the loop
/// fires them.
constexpr int kTimersAtOnce = 1000;
/// Delay until all descriptors are retried, after the system had no memory for a wait.
constexpr std::chrono::milliseconds kAfterFailure{1};
/// How long the loop runs jobs that workers could run, before it polls its sockets again.
constexpr std::chrono::milliseconds kInlineSlice{1};
/// How many turns such jobs are postponed in favour of sockets.
constexpr int kMaxPostponedTurns = 2;

FileDescriptor checked(int fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category());
  return FileDescriptor{fd};
}

/// An even number that identifies the calling thread.
std::uintptr_t this_thread() noexcept {
  alignas(std::uintptr_t) thread_local const char mark = 0;
  return reinterpret_cast<std::uintptr_t>(&mark);
}
/// Flag in the thread's number: it runs the loop only while it waits for something else.
constexpr std::uintptr_t kDriving = 1;

}  // namespace

/// Marks the calling thread as the one that runs the loop.
class EventLoop::Running {
 public:
  explicit Running(EventLoop& loop) : loop_(loop) {
    std::uintptr_t runner = 0;
    while (!loop_.runner_.compare_exchange_strong(runner, this_thread())) {
      if ((runner & ~kDriving) == this_thread()) {
        throw std::logic_error(
            "a task called run() or run_ready() of its own loop; return from the task instead");
      }
      if ((runner & kDriving) == 0) {
        throw std::logic_error(
            "the loop is run by another thread; one thread at a time may call run() or "
            "run_ready()");
      }
      // The loop is driven by a waiting call, which yields it.
      loop_.claimed_ = true;
      loop_.ring();
      loop_.runner_.wait(runner);
      runner = 0;
    }
    loop_.claimed_ = false;
    loop_.last_runner_ = this_thread();
  }
  ~Running() { loop_.runner_ = 0; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  EventLoop& loop_;
};

EventLoop::EventLoop(Logger log)
    : log_(std::move(log)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC))),
      wake_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  loop_descriptors::add(epoll_.get());
  loop_descriptors::add(wake_.get());
}

EventLoop::~EventLoop() {
  close();
  loop_descriptors::remove(epoll_.get());
  loop_descriptors::remove(wake_.get());
  if (timer_) loop_descriptors::remove(timer_->get());
}

void EventLoop::close() noexcept {
  JobList jobs;
  JobList inline_jobs;
  std::list<std::function<void()>> posted;
  {
    const std::lock_guard guard{mutex_};
    closed_by_other_ = !closed_ && runner_ != 0 && !is_here();
    closed_ = true;
    jobs.swap(jobs_);
    inline_jobs.swap(inline_);
    posted.swap(posted_);
  }
  ring();
}

void EventLoop::drive(const std::function<bool()>& done, TimePoint deadline) {
  const std::uintptr_t last = last_runner_;
  if (last != 0 && last != this_thread()) return;
  std::uintptr_t nobody = 0;
  if (!runner_.compare_exchange_strong(nobody, this_thread() | kDriving)) return;
  last_runner_ = this_thread();
  const std::unique_ptr<EventLoop, void (*)(EventLoop*)> leave{this, [](EventLoop* loop) {
                                                                 loop->runner_ = 0;
                                                                 loop->runner_.notify_all();
                                                               }};
  while (!closed_ && !claimed_ && !done() && std::chrono::steady_clock::now() < deadline) {
    turn(deadline, TimePoint::max());
  }
  const TimePoint next = prepare_wait();
  if (timer_) arm(next);
}

bool EventLoop::call_if_idle(const std::function<void()>& function) {
  std::uintptr_t nobody = 0;
  // Another thread that begins to run the loop meanwhile waits.
  if (!runner_.compare_exchange_strong(nobody, this_thread() | kDriving)) return false;
  function();
  runner_ = 0;
  runner_.notify_all();
  return true;
}

bool EventLoop::is_here() const noexcept { return (runner_ & ~kDriving) == this_thread(); }

void EventLoop::wake() noexcept {
  if (!awake_.exchange(true)) ring();
}

void EventLoop::ring() noexcept {
  if (process_.is_of_parent()) return;  // the descriptor may refer to another file in a child
  // A lost wake-up would leave the loop asleep, hence the retries. EAGAIN: the counter is at its
  // maximum, and readable.
  for (int tries = 0; tries < 100; ++tries) {
    if (::eventfd_write(wake_.get(), 1) == 0 || errno == EAGAIN) return;
  }
}

void EventLoop::time_changed(TimePoint next) noexcept {
  if (next.time_since_epoch().count() < waits_until_.load()) wake();
}

void EventLoop::push(std::shared_ptr<Job> job) noexcept {
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    jobs_.push(std::move(job));
  }
  wake();
}

void EventLoop::push_inline(std::shared_ptr<Job> job) noexcept {
  const std::lock_guard guard{mutex_};
  if (!closed_) inline_.push(std::move(job));
}

void EventLoop::post(std::function<void()> task) {
  if (task == nullptr)
    throw std::invalid_argument("a task posted to the loop is an empty function");
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    posted_.push_back(std::move(task));
  }
  wake();
}

std::shared_ptr<TimerQueue> EventLoop::timers(Clock& clock) {
  const std::lock_guard guard{timers_mutex_};
  for (const Timers& each : timers_) {
    if (&each.queue->clock() != &clock) continue;
    if (auto queue = each.owner.lock()) return queue;  // otherwise it is being destroyed
  }
  timers_.reserve(timers_.size() + 1);
  auto queue = std::make_shared<TimerQueue>(*this, clock);
  timers_.push_back({.queue = queue.get(), .owner = queue});
  return queue;
}

void EventLoop::forget(const TimerQueue& queue) noexcept {
  const std::lock_guard guard{timers_mutex_};
  std::erase_if(timers_, [&](const Timers& each) { return each.queue == &queue; });
}

void EventLoop::forget(const Descriptor& descriptor) noexcept {
  ++descriptors_destroyed_;
  for (epoll_event& event : events_) {
    if (event.data.ptr == &descriptor) event.events = 0;
  }
}

EventLoop::TimePoint EventLoop::next_timer() const noexcept {
  const std::lock_guard guard{timers_mutex_};
  TimePoint next = TimePoint::max();
  for (const Timers& each : timers_) next = std::min(next, each.queue->next_machine_time());
  return next;
}

void EventLoop::fire_timers() noexcept {
  for (int count = 0; count < kTimersAtOnce; ++count) {
    bool any = false;
    // Released without the lock: a job that is destroyed here cancels its timers.
    std::shared_ptr<Waker> waker;
    {
      const std::lock_guard guard{timers_mutex_};
      for (const Timers& each : timers_) {
        any = each.queue->take_due(waker);
        if (any) break;
      }
    }
    if (!any) return;
    if (waker != nullptr) waker->wake();
  }
}

void EventLoop::run(const std::stop_token& stop) {
  const Running running{*this};
  // Not wake(): the loop may have checked the token already and be about to wait.
  const std::stop_callback end_wait{stop, [this]() noexcept { ring(); }};
  while (!stop.stop_requested() && !closed_) turn(TimePoint::max(), TimePoint::max());
  // Another thread may continue with run_ready(), and wait for descriptor().
  const TimePoint next = prepare_wait();
  if (timer_) arm(next);
  if (closed_by_other_ && !stop.stop_requested()) {
    throw std::logic_error(
        "the Runtime was destroyed while this thread ran its loop; stop the "
        "thread before");
  }
}

bool EventLoop::run_ready(Duration budget) {
  const Running running{*this};
  const TimePoint end = std::chrono::steady_clock::now() + budget;
  awake_ = true;
  TimePoint next = TimePoint::min();
  do {
    turn(TimePoint::min(), end);
    next = prepare_wait();
  } while (!closed_ && next <= std::chrono::steady_clock::now() &&
           std::chrono::steady_clock::now() < end);
  if (timer_) arm(next);
  return !closed_ && next <= std::chrono::steady_clock::now();
}

int EventLoop::descriptor() {
  std::optional<Running> running;
  if (!is_here()) running.emplace(*this);
  if (!timer_) {
    FileDescriptor timer = checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &timer_}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer.get(), &event) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    timer_ = std::move(timer);
    loop_descriptors::add(timer_->get());
    awake_ = false;
    wake();  // keeps the descriptor readable until run_ready() has checked
  }
  return epoll_.get();
}

void EventLoop::arm(TimePoint next) noexcept {
  if (next == armed_) return;
  armed_ = next;
  itimerspec time{};  // all zero: disarmed
  if (next != TimePoint::max()) {
    const auto since = std::max(next.time_since_epoch(), Duration{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    time.it_value.tv_sec = seconds.count();
    time.it_value.tv_nsec = std::chrono::nanoseconds{since - seconds}.count();
  }
  if (::timerfd_settime(timer_->get(), TFD_TIMER_ABSTIME, &time, nullptr) == 0) return;
  armed_ = TimePoint::max();
  wake();  // without a timer, the program must poll again at once
}

EventLoop::TimePoint EventLoop::prepare_wait() noexcept {
  awake_ = false;
  waits_until_ = TimePoint::max().time_since_epoch().count();
  const bool ready = [&] {
    const std::lock_guard guard{mutex_};
    return !jobs_.empty() || !inline_.empty() || !posted_.empty() || more_events_ || awake_;
  }();
  TimePoint next = ready ? TimePoint::min() : next_timer();
  if (blind_) next = std::min(next, std::chrono::steady_clock::now() + kAfterFailure);
  waits_until_ = next.time_since_epoch().count();
  return next;
}

void EventLoop::turn(TimePoint deadline, TimePoint end) noexcept {
  int timeout = 0;
  if (deadline != TimePoint::min()) {
    const TimePoint next = std::min(prepare_wait(), deadline);
    if (next == TimePoint::max()) {
      timeout = -1;
    } else if (next != TimePoint::min()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
      timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
    }
  }
  const bool reads_more = collect_events(timeout);
  waits_until_ = Duration::min().count();
  awake_ = true;
  fire_timers();
  run_pending(end);
  run_inline(reads_more);
}

bool EventLoop::collect_events(int timeout_ms) noexcept {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  more_events_ = count == static_cast<int>(events.size());
  const bool failed = count < 0 && errno != EINTR;
  if (failed && timeout_ms != 0) ::poll(nullptr, 0, static_cast<int>(kAfterFailure.count()));
  if (failed || blind_) {
    blind_ = failed;
    try_all_descriptors();
  }
  bool any = false;
  events_ = std::span{events}.first(static_cast<std::size_t>(std::max(count, 0)));
  for (const epoll_event& event : events_) {
    void* const what = event.data.ptr;
    if (event.events == 0) {
      // Its descriptor was destroyed by the job of an earlier event.
    } else if (what == nullptr) {
      eventfd_t value = 0;
      ::eventfd_read(wake_.get(), &value);  // if this fails, the next wait returns at once
    } else if (what == &timer_) {
      std::uint64_t expirations = 0;
      (void)::read(timer_->get(), &expirations, sizeof expirations);
      armed_ = TimePoint::max();
    } else {
      any = true;
      static_cast<Descriptor*>(what)->ready(event.events);
    }
  }
  events_ = {};
  return any;
}

void EventLoop::try_all_descriptors() noexcept {
  const std::size_t destroyed = descriptors_destroyed_;
  for (Descriptor& descriptor : descriptors_) {
    descriptor.wait_for(descriptor.wanted_);
    if (descriptor.wanted_ != 0) descriptor.ready(EPOLLIN | EPOLLOUT);
    if (descriptors_destroyed_ == destroyed) continue;
    blind_ = true;  // the list has changed; the remaining descriptors are tried later
    return;
  }
}

void EventLoop::run_pending(TimePoint end) noexcept {
  const auto is_late = [&] {
    return end != TimePoint::max() && std::chrono::steady_clock::now() >= end;
  };
  JobList jobs;
  std::size_t tasks = 0;
  {
    const std::lock_guard guard{mutex_};
    jobs.swap(jobs_);
    tasks = posted_.size();
  }
  while (std::shared_ptr<Job> job = jobs.pop()) {
    Scheduler::execute(std::move(job));
    if (is_late()) break;
  }
  if (!jobs.empty()) {
    const std::lock_guard guard{mutex_};
    if (!closed_) {
      jobs.append(jobs_);
      jobs_.swap(jobs);
    }
  }
  for (; tasks > 0; --tasks) {
    const std::function<void()> task = take_task();
    if (task == nullptr) return;  // the loop was closed
    call(task);
    if (is_late()) return;
  }
}

void EventLoop::run_inline(bool reads_more) noexcept {
  const auto take = [this] {
    const std::lock_guard guard{mutex_};
    return inline_.pop();
  };
  {
    const std::lock_guard guard{mutex_};
    if (inline_.empty() || (reads_more && ++postponed_turns_ < kMaxPostponedTurns)) return;
  }
  postponed_turns_ = 0;
  const TimePoint end = std::chrono::steady_clock::now() + kInlineSlice;
  while (std::shared_ptr<Job> job = take()) {
    if (reads_more || std::chrono::steady_clock::now() >= end) {
      const std::shared_ptr<Scheduler> scheduler = job->scheduler();
      scheduler->push_again(std::move(job));
    } else {
      Scheduler::execute(std::move(job));
    }
  }
}

std::function<void()> EventLoop::take_task() noexcept {
  const std::lock_guard guard{mutex_};
  if (posted_.empty()) return nullptr;
  std::function<void()> task = std::move(posted_.front());
  posted_.pop_front();
  return task;
}

void EventLoop::call(const std::function<void()>& task) const noexcept {
  const NoWaitCode scope{true};
  try {
    task();
  } catch (const std::exception& error) {
    log_.error("a task of the loop failed: {}", error.what());
  } catch (...) {
    log_.error("a task of the loop failed");
  }
}

}  // namespace kube::detail
