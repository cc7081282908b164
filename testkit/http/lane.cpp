// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/lane.hpp"

#include <utility>

namespace kube::testkit::detail {

void BlockingLane::run(std::function<void()> task) {
  const std::lock_guard guard{mutex_};
  if (stopped_) return;
  tasks_.push_back(std::move(task));
  if (idle_ < tasks_.size() && threads_.size() < max_threads_) {
    try {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (...) {
      // With at least one thread, the task is run later.
      if (threads_.empty()) {
        tasks_.pop_back();
        throw;
      }
    }
  }
  changed_.notify_one();
}

void BlockingLane::stop() noexcept {
  std::vector<std::jthread> ending;
  std::list<std::function<void()>> dropped;
  {
    const std::lock_guard guard{mutex_};
    stopped_ = true;
    dropped.swap(tasks_);
    ending.swap(threads_);
  }
  for (std::jthread& thread : ending) thread.request_stop();
}

void BlockingLane::work(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  for (;;) {
    ++idle_;
    changed_.wait(lock, stop, [this] { return !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    try {
      task();
    } catch (...) {  // NOLINT(bugprone-empty-catch): tasks handle their own errors
    }
    task = {};
    lock.lock();
  }
}

}  // namespace kube::testkit::detail
