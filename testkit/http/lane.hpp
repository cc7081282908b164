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

/// Threads for requests that may have to wait, so that they do not hold up the sockets. Threads are started as
/// they are needed, up to a limit; beyond it requests queue.
///
/// What a task throws is dropped; a task that cannot be run at all makes run() throw.
///
/// Thread safety: run() from any thread. stop() drops what has not begun and waits for what has.
class BlockingLane {
 public:
  explicit BlockingLane(std::size_t most_threads) : most_threads_(most_threads) {}
  ~BlockingLane() { stop(); }

  void run(std::function<void()> task);
  void stop() noexcept;

 private:
  void work(const std::stop_token& stop);

  const std::size_t most_threads_;
  std::mutex mutex_;
  Condition changed_;
  // Guarded by mutex_:
  /// A list, since even an empty std::deque needs memory, and stop() must do without.
  std::list<std::function<void()>> tasks_;
  std::vector<std::jthread> threads_;
  std::size_t idle_ = 0;
  bool stopped_ = false;
};

}  // namespace kube::testkit::detail
