// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/timers.hpp"

#include <utility>

namespace kube::testkit::detail {

void Timers::after(Clock::Duration delay, std::function<void()> call) {
  const std::lock_guard guard{mutex_};
  if (stopped_) return;
  waiting_.emplace(clock_.now() + delay, std::move(call));
  changed_.notify_all();
  if (!thread_.joinable())
    thread_ = std::jthread{[this](std::stop_token stop) { run(std::move(stop)); }};
}

void Timers::stop() {
  std::jthread ending;
  std::multimap<Clock::TimePoint, std::function<void()>> dropped;
  {
    const std::lock_guard guard{mutex_};
    stopped_ = true;
    dropped.swap(waiting_);
    ending.swap(thread_);
  }
}

void Timers::run(std::stop_token stop) {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    const auto next = waiting_.empty() ? Clock::TimePoint::max() : waiting_.begin()->first;
    if (next <= clock_.now()) {
      auto due = waiting_.extract(waiting_.begin());
      lock.unlock();
      try {
        due.mapped()();
      } catch (...) {  // NOLINT(bugprone-empty-catch): what is called sees to its own failures
      }
      due = {};
      lock.lock();
      continue;
    }
    clock_.wait_until(lock, changed_, next, stop,
                      [&] { return !waiting_.empty() && waiting_.begin()->first < next; });
  }
}

}  // namespace kube::testkit::detail
