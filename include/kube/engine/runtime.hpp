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

/// How many threads a Runtime has. Any field may be left out.
struct RuntimeOptions {
  /// Workers beside the thread of the loop, each made when it is first needed; by default one per processor, 4 at most.
  /// With 0 the Runtime creates no thread at all: the program runs the loop, and everything happens there.
  std::optional<unsigned> threads = std::nullopt;
  /// Workers are added while all that exist are blocked inside handlers, until this many are; 0: no limit. Those added
  /// end when they have been idle for 10 s. When handlers wait for others at the limit, a warning names those that
  /// block, once per minute.
  unsigned max_threads = 64;
  Logger log = stderr_logger();
  /// Gets `runtime_blocked_seconds`, which names the same handlers; null counts nothing.
  std::shared_ptr<Metrics> metrics = nullptr;
};

/// The threads that informers and their handlers run on: one for the loop (`kube-io`), which never runs code that may
/// block, and a few workers (`kube-work-N`). Their number does not depend on the number of informers and handlers.
///
/// The destructor ends the threads, after the handlers that they are inside of. It may run on one of these threads, which
/// then ends by itself. Thread safety: all methods may be called from any thread.
class Runtime {
 public:
  /// Throws std::system_error if there is no file descriptor or thread for the loop.
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  /// How many threads it has now.
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
