// SPDX-License-Identifier: Apache-2.0
#include "runnable_group.hpp"

#include <stdexcept>
#include <utility>

namespace kube::detail {

void RunnableGroup::add(std::string name, Run run) {
  const std::lock_guard guard{mutex_};
  if (stopping_) {
    throw std::logic_error("cannot add " + name + " to a manager that is stopping");
  }
  if (started_) {
    start_locked({std::move(name), std::move(run)});
  } else {
    waiting_.push_back({std::move(name), std::move(run)});
  }
}

void RunnableGroup::start() {
  const std::lock_guard guard{mutex_};
  if (stopping_) return;
  started_ = true;
  for (Runnable& runnable : std::exchange(waiting_, {})) start_locked(std::move(runnable));
}

void RunnableGroup::start_locked(Runnable runnable) {
  threads_.emplace_back([this, runnable = std::move(runnable)] {
    const ThreadMark mark{this};
    try {
      runnable.run(stop_.get_token());
    } catch (...) {
      on_failure_(runnable.name, std::current_exception());
    }
  });
}

void RunnableGroup::request_stop() {
  {
    const std::lock_guard guard{mutex_};
    stopping_ = true;
  }
  stop_.request_stop();  // without the lock: it calls callbacks that runnables have registered
}

void RunnableGroup::stop_and_wait() {
  request_stop();
  const std::lock_guard one_at_a_time{joining_};
  std::vector<std::jthread> ending;  // joined by its destructor
  {
    const std::lock_guard guard{mutex_};
    ending.swap(threads_);
  }
}

}  // namespace kube::detail
