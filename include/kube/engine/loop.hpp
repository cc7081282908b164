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

/// The event loop, where the library waits for sockets and timers. It belongs to a Runtime, which
/// runs it in a thread of its own. With RuntimeOptions::threads = 0, the program runs it instead:
///
///   poll() reports loop.descriptor() as readable  ->  loop.run_ready()
///
/// Thread safety: post() from any thread. One thread at a time may be inside run() or run_ready(),
/// not necessarily always the same one.
class Loop {
 public:
  /// A length of time; any std::chrono duration converts to it.
  using Duration = std::chrono::steady_clock::duration;

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// A file descriptor that is readable (level-triggered) whenever run_ready() has work to do.
  /// Always the same descriptor; it can be added to any other event loop. Throws std::system_error
  /// if no descriptor is available for timers, and as run_ready().
  [[nodiscard]] int descriptor();
  /// Runs the work that is ready, without waiting, for about `budget` (one task may exceed it).
  /// Returns true if more is ready; an edge-triggered loop calls it until it returns false. Throws
  /// std::logic_error if another thread runs the loop, if the Runtime has a thread for it, or if it
  /// is called from a task of the loop.
  bool run_ready(Duration budget = std::chrono::milliseconds{5});
  /// Waits and runs until a stop is requested. Throws as run_ready(), and also if another thread
  /// destroys the Runtime meanwhile.
  void run(std::stop_token stop);
  /// Calls `task` on the thread that runs the loop. Tasks posted by one thread run in order. A task
  /// must not block; its exceptions are logged. Throws std::bad_alloc, and std::invalid_argument
  /// for an empty function.
  void post(std::function<void()> task);

 private:
  friend class Runtime;
  explicit Loop(std::shared_ptr<detail::Scheduler> core) noexcept : core_(std::move(core)) {}

  const std::shared_ptr<detail::Scheduler> core_;
};

}  // namespace kube
