// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/condition.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace kube::testkit::detail {

/// A thread pool for requests that may block, so that they do not block the threads of the sockets.
/// Starts threads on demand up to a limit; further tasks queue.
///
/// Exceptions from a task are dropped. run() throws if a task cannot be queued or no thread can be
/// started for it.
///
/// Thread safety: run() from any thread. stop() drops queued tasks and waits for running ones.
class BlockingLane {
 public:
  explicit BlockingLane(std::size_t max_threads) : max_threads_(max_threads) {}
  ~BlockingLane() { stop(); }

  void run(std::function<void()> task);
  void stop() noexcept;

 private:
  void work(const std::stop_token& stop);

  const std::size_t max_threads_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  /// A std::list: even an empty std::deque allocates, and stop() must not.
  std::list<std::function<void()>> tasks_;
  std::vector<std::jthread> threads_;
  std::size_t idle_ = 0;
  bool stopped_ = false;
};

}  // namespace kube::testkit::detail
