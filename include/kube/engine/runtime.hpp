// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/base/log.hpp>
#include <kube/engine/loop.hpp>

#include <memory>
#include <optional>

namespace kube {

class Metrics;  // <kube/base/metrics.hpp>
class Runtime;

namespace detail {
class Scheduler;
struct ThreadPlan;
std::shared_ptr<Runtime> lease_runtime();
}  // namespace detail

/// Configures the threads of a Runtime. Any field may be left out.
struct RuntimeOptions {
  /// Workers beside the loop's thread, each created on first use; by default one per processor, at
  /// most 4. With 0 the Runtime creates no thread at all: the program runs the loop, and all work
  /// happens there.
  std::optional<unsigned> threads = std::nullopt;
  /// While all existing workers are blocked inside handlers, more are added, until this many are
  /// blocked; 0: no limit. Added workers end after 10 s without work. While the limit holds handlers
  /// back, a warning names those that block, at most once per minute.
  unsigned max_threads = 64;
  /// Receives exceptions of tasks, and warnings about handlers that block.
  Logger log = stderr_logger();
  /// Gets `runtime_blocked_seconds`, which names the same handlers; null counts nothing.
  std::shared_ptr<Metrics> metrics = nullptr;
};

/// The threads that run informers and their handlers: one for the event loop (`kube-io`), which
/// never runs code that may block, and a few workers (`kube-work-N`). Their number does not depend
/// on the number of informers and handlers.
///
/// The destructor waits for running handlers and ends the threads. Called on one of these threads,
/// it does not wait: that thread ends by itself.
///
/// Thread safety: all methods may be called from any thread.
class Runtime {
 public:
  /// Throws std::system_error if no file descriptor or thread is available for the loop.
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The event loop, for programs that run it themselves.
  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  /// The current number of threads.
  [[nodiscard]] std::size_t threads() const;

 private:
  friend struct detail::Inside;
  friend std::shared_ptr<Runtime> detail::lease_runtime();
  struct Threads;

  explicit Runtime(const detail::ThreadPlan& plan);

  const std::shared_ptr<detail::Scheduler> core_;
  Loop loop_;
  std::unique_ptr<Threads> threads_;
};

}  // namespace kube
