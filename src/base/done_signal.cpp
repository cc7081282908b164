// SPDX-License-Identifier: Apache-2.0
#include "base/fork.hpp"
#include "base/no_wait.hpp"
#include <kube/base/condition.hpp>
#include <kube/base/done_signal.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace kube {

struct DoneSignal::State {
  detail::ProcessMark process;
  std::string name;
  std::mutex mutex;
  Condition changed;
  // Guarded by mutex:
  bool done = false;
  std::uint64_t next = 1;
  std::map<std::uint64_t, std::function<void()>> then;
};

DoneSignal::DoneSignal(std::string name) : state_(std::make_shared<State>()) {
  state_->name = std::move(name);
}

const std::string& DoneSignal::name() const noexcept { return state_->name; }

bool DoneSignal::done() const {
  state_->process.check("the signal");
  const std::lock_guard guard{state_->mutex};
  return state_->done;
}

bool DoneSignal::wait(std::stop_token stop) const {
  return wait_until(system_clock(), Clock::TimePoint::max(), std::move(stop));
}

bool DoneSignal::wait_until(Clock& clock, Clock::TimePoint deadline, std::stop_token stop) const {
  state_->process.check("the signal");
  detail::require_may_wait("DoneSignal::wait()", "use on_done() instead");
  const std::shared_ptr<State> state = state_;
  std::unique_lock lock{state->mutex};
  return clock.wait_until(lock, state->changed, deadline, std::move(stop),
                          [&] { return state->done; });
}

void DoneSignal::fire() const noexcept {
  if (state_->process.is_of_parent()) return;
  const std::shared_ptr<State> state = state_;  // a waiting thread may destroy the signal
  std::map<std::uint64_t, std::function<void()>> then;
  {
    const std::lock_guard guard{state->mutex};
    if (state->done) return;
    state->done = true;
    then.swap(state->then);
  }
  state->changed.notify_all();
  for (const auto& [number, call] : then) {
    try {
      call();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the other callbacks are still called
    }
  }
}

std::uint64_t DoneSignal::on_done(std::function<void()> then) const {
  state_->process.check("the signal");
  {
    const std::lock_guard guard{state_->mutex};
    if (!state_->done) {
      state_->then.emplace(state_->next, std::move(then));
      return state_->next++;
    }
  }
  then();
  return 0;
}

void DoneSignal::forget(std::uint64_t registered) const {
  state_->process.check("the signal");
  const std::lock_guard guard{state_->mutex};
  state_->then.erase(registered);
}

bool wait_for(const std::vector<DoneSignal>& signals, std::stop_token stop, std::string_view what,
              const Logger& log) {
  struct Shared {
    std::mutex mutex;
    Condition changed;
    std::vector<std::size_t> fired;  // guarded by mutex
  };
  detail::require_may_wait("wait_for()", "use DoneSignal::on_done() instead");
  const auto shared = std::make_shared<Shared>();
  if (!what.empty()) log.info("Waiting for {}", what);
  // Reserved, so that recording a signal cannot fail: an unrecorded one would never end the wait.
  shared->fired.reserve(signals.size());
  std::vector<std::uint64_t> registered;
  registered.reserve(signals.size());
  for (std::size_t i = 0; i < signals.size(); ++i) {
    registered.push_back(signals[i].on_done([shared, i] {
      {
        const std::lock_guard guard{shared->mutex};
        shared->fired.push_back(i);
      }
      shared->changed.notify_all();
    }));
  }
  std::vector<bool> done(signals.size());
  std::size_t open = signals.size();
  for (bool stopped = false; open > 0 && !stopped;) {
    std::vector<std::size_t> fired;
    {
      std::unique_lock lock{shared->mutex};
      stopped = !shared->changed.wait(lock, stop, [&] { return !shared->fired.empty(); });
      fired = shared->fired;
      shared->fired.clear();
    }
    for (const std::size_t i : fired) {
      done[i] = true;
      --open;
      if (!what.empty()) log.info("Done waiting for {}: {}", what, signals[i].name());
    }
  }
  if (open == 0) return true;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    signals[i].forget(registered[i]);
    if (!done[i]) missing.push_back(signals[i].name());
  }
  std::sort(missing.begin(), missing.end());
  if (!what.empty()) log.error("Timed out waiting for {}: {}", what, fmt::join(missing, ", "));
  return false;
}

}  // namespace kube
