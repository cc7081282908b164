// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/controller.hpp>

#include "thrown.hpp"

#include "base/thread_mark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace kube::detail {

using namespace std::chrono_literals;

namespace {

/// Between two tries of what has failed here: a lack of memory or threads mostly, which may be over soon.
constexpr Clock::Duration kFirstPause = 10ms;
constexpr Clock::Duration kLongestPause = 1s;

ReflectorHooks with_timer(ReflectorHooks hooks, std::shared_ptr<DeltaQueueCore> queue) {
  // The loop is the one that wakes up for a timer, so no thread is needed for that.
  hooks.set_timer = [queue = std::move(queue)](Clock::TimePoint time) { queue->set_timer(time); };
  return hooks;
}

}  // namespace

CacheController::CacheController(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                                 std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
                                 ReflectorOptions options, ReflectorHooks reflector_hooks)
    : queue_(std::move(queue)),
      hooks_(std::move(hooks)),
      metrics_(options.metrics),
      log_(options.log.value_or(stderr_logger()).named("controller")),
      clock_(*options.clock),
      reflector_(access, std::move(source), *queue_, std::move(options),
                 with_timer(std::move(reflector_hooks), queue_)) {}

void CacheController::report(const std::exception& error) const noexcept {
  metrics_.processing_errors.add();
  log_.error("processing failed: {}", error.what());
  if (!hooks_.on_error) return;
  try {
    hooks_.on_error(error);
  } catch (...) {
    log_.error("on_error failed");
  }
}

std::string CacheController::last_error() const {
  {
    const std::lock_guard guard{mutex_};
    if (!failure_.empty()) return failure_;
  }
  return reflector_.last_error();
}

void CacheController::set_failure(const char* text) noexcept {
  const std::lock_guard guard{mutex_};
  try {
    failure_ = text;
  } catch (const std::bad_alloc&) {
    failure_ = "out of memory";  // short enough to need none
  }
}

/// Reports the exception that is being handled, and waits for longer than the last time. False if stopped.
bool CacheController::pause_after_failure(Clock::Duration& pause,
                                          const std::stop_token& stop) noexcept {
  with_current_exception([&](const std::exception& error) {
    set_failure(error.what());
    report(error);
  });
  pause = std::clamp(2 * pause, kFirstPause, kLongestPause);
  try {
    return clock_.sleep_for(pause, stop);
  } catch (...) {  // the clock needs memory, too
    std::this_thread::yield();
    return !stop.stop_requested();
  }
}

/// Fills in what is computed when somebody looks.
void CacheController::measure() const {
  reflector_.measure();
  if (hooks_.store == nullptr) return;
  const StoreSnapshot snapshot = hooks_.store->snapshot();
  std::size_t bytes = snapshot.overhead_bytes();
  snapshot.for_each([&](const ObjectRef& object) {
    const ObjectBytes one = bytes_of(object.to<std::byte>());
    bytes += one.own + one.shared;
    return true;
  });
  metrics_.objects.set(static_cast<double>(snapshot.size()));
  metrics_.bytes.set(static_cast<double>(bytes));
}

void CacheController::process(std::vector<AnyDelta>& deltas, bool in_initial_list,
                              const std::stop_token& stop) {
  if (hooks_.retries) {
    (void)keep_trying([&] { hooks_.process(deltas, in_initial_list); }, stop);
    return;
  }
  try {
    hooks_.process(deltas, in_initial_list);
  } catch (...) {
    reflector_.list_again();
    throw;
  }
}

void CacheController::run(std::stop_token stop) noexcept {
  if (started_.exchange(true)) return;
  const ThreadMark loop{this};
  std::jthread reflector;
  const auto prepare = [&] {
    if (metrics_.probe) metrics_.probe->set([this] { measure(); });
    try {
      reflector = std::jthread{[this](std::stop_token own) {
        const ThreadMark mark{this};
        reflector_.run(std::move(own));
      }};
    } catch (const std::system_error& error) {
      throw Error(fmt::format("{}: the thread of the reflector could not be created: {}",
                              reflector_.name(), error.what()));
    }
  };
  if (keep_trying(prepare, stop)) {
    const std::stop_callback end{stop, [&] {
                                   reflector.request_stop();
                                   queue_->close();
                                 }};
    const DeltaQueueCore::Process process = [&](std::vector<AnyDelta>& deltas,
                                                bool in_initial_list) {
      this->process(deltas, in_initial_list, stop);
    };
    PopResult result = PopResult::kEmpty;
    bool more = false;
    while (!stop.stop_requested()) {
      if (!keep_trying([&] { result = queue_->pop(process, !more); }, stop) ||
          result == PopResult::kClosed) {
        break;
      }
      if (result == PopResult::kTimer) (void)keep_trying([&] { reflector_.tick(); }, stop);
      if (hooks_.go_on) (void)keep_trying([&] { more = hooks_.go_on(); }, stop);
    }
    reflector.request_stop();
    reflector.join();
  }
  if (!metrics_.probe) return;
  try {
    metrics_.probe->set(nullptr);
    measure();  // how it ended
  } catch (...) {
    with_current_exception([&](const std::exception& error) { report(error); });
  }
}

}  // namespace kube::detail
