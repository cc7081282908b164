// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

namespace kube {

namespace detail {
class Scheduler;
}

/// The one place where the library waits for sockets and time. It belongs to a Runtime, which runs it in a thread of its
/// own, or (RuntimeOptions::threads = 0) leaves that to the program:
///
///   poll(loop.descriptor()) says readable  ->  loop.run_ready()
///
/// Thread safety: post() from any thread. One thread at a time may be inside run() or run_ready(); it need not always be
/// the same one.
class Loop {
 public:
  using Duration = std::chrono::steady_clock::duration;

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// A file descriptor that is readable, level-triggered, whenever run_ready() has something to do. Always the same; it may
  /// be put into any other loop. Throws std::system_error if there is no descriptor left for timers, and as run_ready().
  [[nodiscard]] int descriptor();
  /// Does what is ready, for about `budget` at most (one task may exceed it), without waiting. Returns whether more is
  /// ready; a loop that waits for edges calls it until it returns false. Throws std::logic_error if another thread runs
  /// the loop, the Runtime has a thread for it, or a task of the loop calls it.
  bool run_ready(Duration budget = std::chrono::milliseconds{5});
  /// Waits and runs until a stop is requested. Throws as run_ready(), also if another thread destroys the Runtime
  /// meanwhile.
  void run(std::stop_token stop);
  /// Has `task` called by the thread that runs the loop. Tasks of one thread run in the order of their posts. A task must
  /// not block; what it throws is logged. Throws std::bad_alloc, and std::invalid_argument for an empty function.
  void post(std::function<void()> task);

 private:
  friend class Runtime;
  explicit Loop(std::shared_ptr<detail::Scheduler> core) noexcept : core_(std::move(core)) {}

  const std::shared_ptr<detail::Scheduler> core_;
};

}  // namespace kube
