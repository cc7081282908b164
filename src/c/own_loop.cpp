// SPDX-License-Identifier: Apache-2.0
#include "own_loop.hpp"

#include "engine/scheduler.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

#include "callback.hpp"

namespace kube::c {

using namespace std::chrono_literals;

namespace {

constexpr auto kTurn = 5ms;
/// The condition may become true without the loop: by another thread that runs it, or a request to cancel.
constexpr auto kLookAgain = 10ms;
constexpr auto kOtherRuns = 1ms;

}  // namespace

OwnLoop::OwnLoop(const std::shared_ptr<Runtime>& runtime)
    : runtime_(runtime), descriptor_(runtime->loop().descriptor()) {}

bool OwnLoop::run_ready(std::chrono::milliseconds budget) {
  if (is_here() || CallbackScope::is_inside()) {
    throw std::logic_error(
        "run_ready was called by a callback; return from the callback, and the loop goes on");
  }
  bool more = false;
  {
    const std::lock_guard one_at_a_time{run_mutex_};
    last_runner_ = std::this_thread::get_id();
    more = runtime_->loop().run_ready(budget);
  }
  finish_freed();
  return more;
}

bool OwnLoop::run_until(TimePoint deadline, const std::function<bool()>& done) {
  while (!done()) {
    bool more = false;
    bool ran = false;
    {
      const std::unique_lock one_at_a_time{run_mutex_, std::try_to_lock};
      ran = one_at_a_time.owns_lock();
      if (ran) more = runtime_->loop().run_ready(kTurn);
    }
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= 0ms || done()) return done();
    if (!ran) {
      std::this_thread::sleep_for(kOtherRuns);
    } else if (!more) {
      pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const auto pause = std::min<std::chrono::nanoseconds>(left, kLookAgain);
      (void)::poll(&ready, 1,
                   static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(pause).count()));
    }
  }
  return true;
}

void OwnLoop::check_is_run_by_other() const {
  const std::thread::id runner = last_runner_;
  if (!is_here() && runner != std::thread::id{} && runner != std::this_thread::get_id()) return;
  throw std::logic_error(
      "a request waits for its answer, which arrives only while another thread runs the loop of "
      "the "
      "runtime; make a second client without this runtime for requests");
}

bool OwnLoop::is_here() const noexcept { return detail::Inside::core(*runtime_)->loop().is_here(); }

void OwnLoop::finish_later(Handle& handle) noexcept {
  const std::lock_guard guard{mutex_};
  freed_.push(handle);
}

void OwnLoop::finish_freed() noexcept {
  HandleList handles;
  {
    const std::lock_guard guard{mutex_};
    handles.swap(freed_);
  }
  finish_all(handles);
}

}  // namespace kube::c
