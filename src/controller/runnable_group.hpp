// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/thread_mark.hpp"

#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube::detail {

/// Functions that are started together, each on a thread of its own, and stopped together.
///
/// Thread safety: any method from any thread.
class RunnableGroup {
 public:
  using Run = std::function<void(std::stop_token stop)>;
  /// Receives the exception of a runnable.
  using OnFailure = std::function<void(const std::string& name, std::exception_ptr error)>;

  explicit RunnableGroup(OnFailure on_failure) : on_failure_(std::move(on_failure)) {}
  RunnableGroup(const RunnableGroup&) = delete;
  RunnableGroup& operator=(const RunnableGroup&) = delete;
  ~RunnableGroup() { stop_and_wait(); }

  /// Adds a runnable; starts it immediately if the group has been started. Throws std::logic_error
  /// if it has been stopped.
  void add(std::string name, Run run);
  /// Does nothing after request_stop().
  void start();
  void request_stop();
  void stop_and_wait();
  /// Returns whether the calling thread is one of the group's.
  [[nodiscard]] bool runs_here() const noexcept { return ThreadMark::is_set(this); }

 private:
  struct Runnable {
    std::string name;
    Run run;
  };
  void start_locked(Runnable runnable);

  const OnFailure on_failure_;
  std::stop_source stop_;
  std::mutex joining_;  // held while threads are joined
  std::mutex mutex_;
  // Guarded by mutex_:
  bool started_ = false;
  bool stopping_ = false;
  std::vector<Runnable> waiting_;
  std::vector<std::jthread> threads_;
};

}  // namespace kube::detail
