// SPDX-License-Identifier: Apache-2.0
#include "own_loop.hpp"

#include "engine/scheduler.hpp"

#include <stdexcept>

#include "callback.hpp"

namespace kube::c {

namespace {

/// Does nothing, but makes the loop check its condition again.
struct Wakeup final : detail::Job {
  explicit Wakeup(const std::shared_ptr<detail::Scheduler>& scheduler)
      : Job(detail::Placement::kLoop) {
    bind(scheduler);
  }
  void run() noexcept override {}
};

}  // namespace

bool OwnLoop::run_ready(std::chrono::milliseconds budget) {
  if (CallbackScope::is_inside()) {
    throw std::logic_error(
        "run_ready was called by a callback; return from the callback, and the loop goes on");
  }
  const bool more = runtime_->loop().run_ready(budget);
  finish_freed();
  return more;
}

void OwnLoop::drive(const std::function<bool()>& done,
                    std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
  const std::shared_ptr<detail::Scheduler>& scheduler = detail::Inside::core(*runtime_);
  const auto wakeup = std::make_shared<Wakeup>(scheduler);
  const std::stop_callback wake{stop, [&]() noexcept { wakeup->schedule(); }};
  scheduler->loop().drive([&] { return stop.stop_requested() || done(); }, deadline);
}

void OwnLoop::finish_later(Handle& handle) noexcept {
  const std::lock_guard guard{mutex_};
  freed_.push(handle);
}

void OwnLoop::finish_freed() noexcept {
  if (CallbackScope::is_inside()) return;
  HandleList handles;
  {
    const std::lock_guard guard{mutex_};
    handles.swap(freed_);
  }
  finish_all(handles);
}

}  // namespace kube::c
