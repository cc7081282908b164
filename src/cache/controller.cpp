// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/controller.hpp>

#include "blocking_source.hpp"
#include "reflector_core.hpp"
#include "thrown.hpp"
#include "wait_for_end.hpp"

#include "base/thread_mark.hpp"
#include "engine/job.hpp"
#include "engine/runtime_access.hpp"
#include "engine/scheduler.hpp"
#include "engine/timer.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

/// First pause between two tries after a failure here: usually a short lack of memory or threads.
constexpr Clock::Duration kFirstPause = 10ms;
constexpr Clock::Duration kLongestPause = 1s;
/// Time slice: after it the job yields to others.
constexpr auto kSlice = 1ms;
/// A larger batch is not applied on the loop's thread, which must serve sockets.
constexpr std::size_t kMostInLoop = 1000;

/// Holds the queue while one job both fills and empties it; see DeltaQueueCore::hold().
class Held {
 public:
  explicit Held(DeltaQueueCore& queue) : queue_(queue) { queue_.hold(true); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { queue_.hold(false); }

 private:
  DeltaQueueCore& queue_;
};

std::size_t object_count(const std::vector<AnyDelta>& deltas) {
  return deltas.empty() ? 0 : std::max(deltas.size(), deltas.front().objects.size());
}

}  // namespace

class CacheController::Worker final : public Job {
 public:
  using Progress = CacheControllerHooks::Progress;

  Worker(const ObjectAccess& access, std::shared_ptr<AsyncListWatch> source,
         std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
         ReflectorOptions options, ReflectorHooks reflector_hooks)
      : Job(hooks.may_block ? Placement::kBlocking : Placement::kLibrary),
        queue_(std::move(queue)),
        hooks_(std::move(hooks)),
        metrics_(options.metrics),
        log_(options.log.value_or(stderr_logger()).named("controller")),
        clock_(*options.clock),
        reflector_(access, std::move(source), *queue_, std::move(options),
                   std::move(reflector_hooks)) {}

  void start(const Runtime& runtime) {
    const std::shared_ptr<Scheduler>& scheduler = Inside::core(runtime);
    timer_.emplace(scheduler, clock_);
    if (metrics_->probe) metrics_->probe->set([this] { measure(); });
    queue_->set_consumer(shared_from_this());
    bind(scheduler);
    schedule();
  }
  void stop() noexcept {
    stopping_ = true;
    schedule();
  }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] const DoneSignal& ended() const noexcept { return ended_; }
  [[nodiscard]] std::string last_version() const { return reflector_.last_version(); }
  [[nodiscard]] std::string last_error() const {
    {
      const std::lock_guard guard{mutex_};
      if (!failure_.empty()) return failure_;
    }
    return reflector_.last_error();
  }
  void set_failure(const char* text) noexcept;
  void report(const std::exception& error) const noexcept;

 private:
  void run() noexcept override;
  /// Works until there is nothing left to do now (kDone), a handler's backlog is full (kBlocked),
  /// or the time slice is over (kMore).
  [[nodiscard]] Progress work();
  [[nodiscard]] Progress process_taken();
  /// Reports the exception being handled, and schedules a retry after a pause.
  void pause_after_failure() noexcept;
  void end() noexcept;
  void measure() const;

  const std::shared_ptr<DeltaQueueCore> queue_;
  const CacheControllerHooks hooks_;
  const InformerMetrics metrics_;
  const Logger log_;
  Clock& clock_;
  ReflectorCore reflector_;
  const DoneSignal ended_;
  std::atomic<bool> stopping_ = false;
  std::optional<Timer> timer_;

  // Used only by run():
  std::optional<DeltaQueueCore::Taken> taken_;  // not processed yet
  Clock::Duration pause_{};                     // length of the last pause after a failure
  Clock::TimePoint retry_at_ = Clock::TimePoint::min();
  bool has_ended_ = false;

  mutable std::mutex mutex_;
  std::string failure_;  // guarded by mutex_
};

void CacheController::Worker::report(const std::exception& error) const noexcept {
  metrics_->processing_errors.add();
  log_.error("processing failed: {}", error.what());
  if (!hooks_.on_error) return;
  try {
    hooks_.on_error(error);
  } catch (...) {
    log_.error("on_error failed");
  }
}

void CacheController::Worker::set_failure(const char* text) noexcept {
  const std::lock_guard guard{mutex_};
  try {
    failure_ = text;
  } catch (const std::bad_alloc&) {
    failure_ = "out of memory";  // fits the small-string buffer: no allocation
  }
}

void CacheController::Worker::pause_after_failure() noexcept {
  with_current_exception([&](const std::exception& error) {
    set_failure(error.what());
    report(error);
  });
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  retry_at_ = clock_.now() + pause_;
}

/// Updates the metrics that are computed on demand.
void CacheController::Worker::measure() const {
  reflector_.measure();
  if (hooks_.store == nullptr) return;
  const StoreSnapshot snapshot = hooks_.store->snapshot();
  std::size_t bytes = snapshot.overhead_bytes();
  snapshot.for_each([&](const ObjectRef& object) {
    const ObjectBytes one = bytes_of(object.to<std::byte>());
    bytes += one.own + one.shared;
    return true;
  });
  metrics_->objects.set(static_cast<double>(snapshot.size()));
  metrics_->bytes.set(static_cast<double>(bytes));
}

void CacheController::Worker::run() noexcept {
  if (has_ended_) return;
  const ThreadMark mark{this};
  if (stopping_) return end();
  if (clock_.now() >= retry_at_) {
    Progress progress = Progress::kDone;
    try {
      progress = work();
      if (std::exchange(pause_, {}) != Clock::Duration::zero()) set_failure("");
    } catch (...) {
      pause_after_failure();
    }
    if (stopping_) return end();
    if (progress == Progress::kMore) return schedule();
  }
  const Clock::TimePoint next = std::min(reflector_.wake_at(), reflector_.tick_at());
  timer_->set(pause_ > Clock::Duration::zero() ? retry_at_ : next, weak_from_this());
}

CacheController::Worker::Progress CacheController::Worker::work() {
  const auto end = std::chrono::steady_clock::now() + kSlice;
  for (bool more = true; more;) {
    if (taken_ && object_count(taken_->deltas) > kMostInLoop && scheduler()->is_on_busy_loop()) {
      return Progress::kMore;
    }
    if (taken_ && process_taken() == Progress::kBlocked) return Progress::kBlocked;
    if (stopping_) return Progress::kDone;
    {
      const Held held{*queue_};
      if (reflector_.tick_at() <= clock_.now()) reflector_.tick();
      more =
          reflector_.poll({.waker = shared_from_this(), .scheduler = scheduler()}) == Poll::kMore;
    }
    DeltaQueueCore::Taken taken;
    if (queue_->take(taken)) taken_ = std::move(taken);
    more = more || taken_;
    if (hooks_.go_on && !taken_) {
      const Progress progress = hooks_.go_on();
      if (progress == Progress::kBlocked) return progress;
      more = more || progress == Progress::kMore;
    }
    if (more && std::chrono::steady_clock::now() >= end) return Progress::kMore;
  }
  return Progress::kDone;
}

CacheController::Worker::Progress CacheController::Worker::process_taken() {
  WorkerPool::note_progress();
  Progress progress = Progress::kDone;
  try {
    progress = hooks_.process(taken_->deltas, taken_->in_initial_list);
  } catch (...) {
    if (hooks_.retries) throw;
    queue_->processed(*taken_, true);
    taken_.reset();
    reflector_.list_again();
    throw;
  }
  if (progress == Progress::kBlocked) return progress;
  queue_->processed(*taken_, false);
  taken_.reset();
  return Progress::kDone;
}

void CacheController::Worker::end() noexcept {
  has_ended_ = true;
  reflector_.stop();
  (void)reflector_.poll({});
  timer_.reset();
  queue_->set_consumer(nullptr);
  queue_->close();
  taken_.reset();
  if (metrics_->probe) {
    try {
      metrics_->probe->set(nullptr);
      measure();  // final values
    } catch (...) {
      with_current_exception([&](const std::exception& error) { report(error); });
    }
  }
  if (hooks_.on_end) hooks_.on_end();
  ended_.fire();
}

CacheController::CacheController(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                                 std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
                                 ReflectorOptions options)
    : CacheController(access, std::move(source), std::move(queue), std::move(hooks),
                      std::move(options), ReflectorHooks{}) {}

CacheController::CacheController(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                                 std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
                                 ReflectorOptions options, ReflectorHooks reflector_hooks)
    : queue_(std::move(queue)),
      source_(polled_form(std::move(source))),
      worker_(std::make_shared<Worker>(access, source_, queue_, std::move(hooks),
                                       std::move(options), std::move(reflector_hooks))) {}

CacheController::~CacheController() = default;

void CacheController::start(const Runtime& runtime) { worker_->start(runtime); }
void CacheController::stop() noexcept { worker_->stop(); }
void CacheController::join() noexcept {
  (void)worker_->ended().wait({});
  source_->join();
}
std::shared_ptr<Runtime> CacheController::runtime() const {
  auto own = source_->runtime();
  return own ? own : shared_runtime();
}
std::shared_ptr<Waker> CacheController::waker() const noexcept { return worker_; }
bool CacheController::runs_here() const noexcept { return ThreadMark::is_set(worker_.get()); }
std::string CacheController::last_sync_resource_version() const { return worker_->last_version(); }
std::string CacheController::last_error() const { return worker_->last_error(); }
void CacheController::report(const std::exception& error) const noexcept { worker_->report(error); }
void CacheController::set_failure(const char* text) noexcept { worker_->set_failure(text); }

/// Reports the exception being handled, and waits longer than the last time. Returns false if
/// stopped.
bool CacheController::pause_after_failure(Clock::Duration& pause,
                                          const std::stop_token& stop) noexcept {
  with_current_exception([&](const std::exception& error) {
    set_failure(error.what());
    report(error);
  });
  pause = std::clamp(2 * pause, kFirstPause, kLongestPause);
  try {
    return worker_->clock().sleep_for(pause, stop);
  } catch (...) {  // the clock may need memory, too
    std::this_thread::yield();
    return !stop.stop_requested();
  }
}

void CacheController::run(std::stop_token stop) noexcept {
  if (started_.exchange(true)) return;
  std::shared_ptr<Runtime> runtime;
  const auto begin = [&] {
    if (runtime == nullptr) runtime = this->runtime();
    start(*runtime);
  };
  if (!keep_trying(begin, stop)) return;
  {
    const std::stop_callback end{stop, [this]() noexcept { worker_->stop(); }};
    wait_for_end(worker_->ended(), *Inside::core(*runtime));
  }
  join();
}

}  // namespace kube::detail
