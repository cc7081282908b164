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

namespace kube::detail {

namespace {

constexpr std::size_t kEventsAtOnce = 64;
/// How soon everything is tried again after the system had no memory for a wait.
constexpr std::chrono::milliseconds kAfterFailure{1};

FileDescriptor checked(int fd) {
  if (fd < 0) throw std::system_error(errno, std::generic_category());
  return FileDescriptor{fd};
}

/// An address that no other thread has.
const void* this_thread() noexcept {
  thread_local const char mark = 0;
  return &mark;
}

}  // namespace

/// Marks the calling thread as the one that runs the loop.
class EventLoop::Running {
 public:
  explicit Running(EventLoop& loop) : loop_(loop) {
    const void* nobody = nullptr;
    if (loop_.runner_.compare_exchange_strong(nobody, this_thread())) return;
    throw std::logic_error(nobody == this_thread()
                               ? "a task of the loop runs the loop that it is called by; return "
                                 "from the task instead"
                               : "the loop is run by another thread; one thread at a time may call "
                                 "run() or run_ready()");
  }
  ~Running() { loop_.runner_ = nullptr; }
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
}

EventLoop::~EventLoop() { close(); }

void EventLoop::close() noexcept {
  JobList jobs;
  std::deque<std::function<void()>> posted;
  const std::lock_guard guard{mutex_};
  closed_ = true;
  jobs.swap(jobs_);
  posted.swap(posted_);
}

bool EventLoop::is_here() const noexcept { return runner_ == this_thread(); }

void EventLoop::wake() noexcept {
  if (awake_.exchange(true)) return;
  // A wake-up that is lost would leave the loop asleep, hence the retries. EAGAIN: the counter is full, and readable.
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

void EventLoop::post(std::function<void()> task) {
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    posted_.push_back(std::move(task));
  }
  wake();
}

std::shared_ptr<TimerQueue> EventLoop::timers(Clock& clock) {
  const std::lock_guard guard{mutex_};
  std::erase_if(timers_, [](const auto& queue) { return queue.expired(); });
  for (const auto& weak : timers_) {
    auto queue = weak.lock();
    if (queue != nullptr && &queue->clock() == &clock && queue->add_user()) return queue;
  }
  timers_.reserve(timers_.size() + 1);
  auto queue = std::make_shared<TimerQueue>(*this, clock);
  (void)queue->add_user();
  timers_.push_back(queue);
  return queue;
}

std::shared_ptr<TimerQueue> EventLoop::find_due() noexcept {
  const TimePoint now = std::chrono::steady_clock::now();
  const std::lock_guard guard{mutex_};
  for (const auto& weak : timers_) {
    if (auto queue = weak.lock(); queue != nullptr && queue->next_machine_time() <= now) {
      return queue;
    }
  }
  return nullptr;
}

void EventLoop::run(const std::stop_token& stop) {
  const Running running{*this};
  const std::stop_callback wake_up{stop, [this]() noexcept { wake(); }};
  while (!stop.stop_requested()) turn(true);
  awake_ = true;
}

bool EventLoop::run_ready(Duration budget) {
  const Running running{*this};
  const TimePoint end = std::chrono::steady_clock::now() + budget;
  awake_ = true;
  TimePoint next = TimePoint::min();
  do {
    turn(false);
    next = prepare_wait();
  } while (next <= std::chrono::steady_clock::now() && std::chrono::steady_clock::now() < end);
  if (timer_) arm(next);
  return next <= std::chrono::steady_clock::now();
}

int EventLoop::descriptor() {
  if (!timer_) {
    FileDescriptor timer =
        checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &timer_}};
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer.get(), &event) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    timer_ = std::move(timer);
    awake_ = false;
    wake();  // it is readable until run_ready() has looked
  }
  return epoll_.get();
}

void EventLoop::arm(TimePoint next) noexcept {
  if (next == armed_) return;
  armed_ = next;
  itimerspec time{};  // all zero disarms
  if (next != TimePoint::max()) {
    const auto since = std::max(next.time_since_epoch(), Duration{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    time.it_value.tv_sec = seconds.count();
    time.it_value.tv_nsec = std::chrono::nanoseconds{since - seconds}.count();
  }
  if (::timerfd_settime(timer_->get(), TFD_TIMER_ABSTIME, &time, nullptr) == 0) return;
  armed_ = TimePoint::max();
  wake();  // without a timer, the program has to look again at once
}

EventLoop::TimePoint EventLoop::prepare_wait() noexcept {
  awake_ = false;
  waits_until_ = TimePoint::max().time_since_epoch().count();
  const std::lock_guard guard{mutex_};
  TimePoint next = TimePoint::max();
  if (!jobs_.empty() || !posted_.empty() || more_events_ || awake_) {
    next = TimePoint::min();
  } else {
    for (const auto& weak : timers_) {
      if (const auto queue = weak.lock()) next = std::min(next, queue->next_machine_time());
    }
    if (blind_) next = std::min(next, std::chrono::steady_clock::now() + kAfterFailure);
  }
  waits_until_ = next.time_since_epoch().count();
  return next;
}

void EventLoop::turn(bool wait) noexcept {
  int timeout = 0;
  if (wait) {
    const TimePoint next = prepare_wait();
    if (next == TimePoint::max()) {
      timeout = -1;
    } else if (next != TimePoint::min()) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
      timeout = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
    }
  }
  collect_events(timeout);
  waits_until_ = Duration::min().count();
  awake_ = true;
  while (const std::shared_ptr<TimerQueue> queue = find_due()) queue->fire();
  run_pending();
}

void EventLoop::collect_events(int timeout_ms) noexcept {
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 timeout_ms);
  more_events_ = count == static_cast<int>(events.size());
  const bool failed = count < 0 && errno != EINTR;
  if (failed && timeout_ms != 0) ::poll(nullptr, 0, static_cast<int>(kAfterFailure.count()));
  if (failed || blind_) {
    blind_ = failed;
    for (Descriptor& descriptor : descriptors_) {
      descriptor.wait_for(descriptor.wanted_);
      if (descriptor.wanted_ != 0) descriptor.ready(EPOLLIN | EPOLLOUT);
    }
  }
  for (int i = 0; i < count; ++i) {
    void* const what = events[static_cast<std::size_t>(i)].data.ptr;
    if (what == nullptr) {
      eventfd_t value = 0;
      ::eventfd_read(wake_.get(), &value);  // if it fails, the next wait returns at once
    } else if (what == &timer_) {
      std::uint64_t expirations = 0;
      (void)::read(timer_->get(), &expirations, sizeof expirations);
      armed_ = TimePoint::max();
    } else {
      static_cast<Descriptor*>(what)->ready(events[static_cast<std::size_t>(i)].events);
    }
  }
}

void EventLoop::run_pending() noexcept {
  JobList jobs;
  std::deque<std::function<void()>> posted;
  {
    const std::lock_guard guard{mutex_};
    jobs.swap(jobs_);
    posted.swap(posted_);
  }
  while (const std::shared_ptr<Job> job = jobs.pop()) Scheduler::execute(*job);
  for (const auto& task : posted) call(task);
}

void EventLoop::call(const std::function<void()>& task) const noexcept {
  try {
    task();
  } catch (const std::exception& error) {
    log_.error("a task of the loop failed: {}", error.what());
  } catch (...) {
    log_.error("a task of the loop failed");
  }
}

}  // namespace kube::detail
