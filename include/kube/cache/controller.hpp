// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta_queue.hpp>
#include <kube/cache/reflector.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace kube {

class Runtime;  // <kube/engine/runtime.hpp>

namespace detail {

struct ReflectorHooks;

/// How a CacheController processes deltas.
struct CacheControllerHooks {
  /// Outcome of one call. kBlocked: a handler's backlog is full; the controller's waker is woken
  /// once there is room.
  enum class Progress { kDone, kMore, kBlocked };

  /// Processes a batch that was taken from the queue. An exception is counted and passed to
  /// `on_error`. The reflector then lists again, since the deltas are lost.
  std::function<Progress(std::vector<AnyDelta>& deltas, bool in_initial_list)> process = nullptr;
  /// True if `process` can be called again with the deltas for which it threw, and continues where
  /// it stopped. The controller then retries, with pauses, until they are processed or a stop is
  /// requested.
  bool retries = false;
  /// Does one slice of a long operation (a resync) between batches. May be absent. Called again
  /// after it threw.
  std::function<Progress()> go_on = nullptr;
  /// Receives errors of `process`. Its exceptions are swallowed.
  std::function<void(const std::exception& error)> on_error = nullptr;
  /// The store that `process` fills, for metrics. May be absent.
  std::shared_ptr<const IndexerCore> store = nullptr;
  /// True if `process` calls user code that may block: it then runs only on workers.
  bool may_block = true;
  /// Called once, when all work has ended, by the thread that ended it. May be absent. Must not
  /// throw.
  std::function<void()> on_end = nullptr;
};

/// The type-erased controller behind Controller: a job that alternates between polling the
/// reflector and processing deltas from the queue.
///
/// Thread safety: any method from any thread.
class CacheController {
 public:
  CacheController(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                  std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
                  ReflectorOptions options);
  CacheController(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                  std::shared_ptr<DeltaQueueCore> queue, CacheControllerHooks hooks,
                  ReflectorOptions options, ReflectorHooks reflector_hooks);
  CacheController(const CacheController&) = delete;
  CacheController& operator=(const CacheController&) = delete;
  ~CacheController();

  /// Runs until a stop is requested, and returns when all work has ended. Deltas still queued are
  /// dropped. Does not throw: failures, for instance lack of memory or threads, are reported and
  /// retried. A second call returns immediately.
  void run(std::stop_token stop) noexcept;
  /// Starts working on the threads of `runtime`. Call once, or again after it threw. Throws
  /// std::bad_alloc.
  void start(const Runtime& runtime);
  /// Requests the end of the work, after which `on_end` is called. Call after start().
  void stop() noexcept;
  /// Waits until the work has ended and no call into a blocking source is under way. Call after
  /// start().
  void join() noexcept;
  /// Calls `work` at least once, and again after pauses until it does not throw. Each failure is
  /// reported, and returned by last_error() meanwhile. Returns false if a stop is requested first.
  template <typename Work>
  bool keep_trying(const Work& work, const std::stop_token& stop) noexcept {
    for (Clock::Duration pause{};;) {
      try {
        work();
        if (pause != Clock::Duration::zero()) set_failure("");
        return true;
      } catch (...) {
        if (!pause_after_failure(pause, stop)) return false;
      }
    }
  }
  /// Returns the runtime for start(): that of the client behind the source, or the one that
  /// informers without a client share. Throws as the constructor of Runtime.
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const;
  /// Returns the waker that handlers wake when their backlog has room again.
  [[nodiscard]] std::shared_ptr<Waker> waker() const noexcept;
  /// Returns whether the calling thread is working for this controller now.
  [[nodiscard]] bool runs_here() const noexcept;

  /// True once the first list has been processed. Stays true.
  [[nodiscard]] bool has_synced() const { return queue_->has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return queue_->synced(); }
  /// Returns the resourceVersion that was read last; empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const;
  /// Returns why nothing new is processed: a failure that repeats here, or the last error of the
  /// source. Empty if there is none.
  [[nodiscard]] std::string last_error() const;
  [[nodiscard]] std::size_t queued() const { return queue_->size(); }
  /// Counts a processing error and passes it to `on_error`.
  void report(const std::exception& error) const noexcept;

 private:
  class Worker;

  void set_failure(const char* text) noexcept;
  bool pause_after_failure(Clock::Duration& pause, const std::stop_token& stop) noexcept;

  const std::shared_ptr<DeltaQueueCore> queue_;
  const std::shared_ptr<AsyncListWatch> source_;
  const std::shared_ptr<Worker> worker_;
  std::atomic<bool> started_ = false;
};

/// Adapts a typed `process` function to a hook of CacheController.
template <typename T>
[[nodiscard]] auto process_hook(
    std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)> process) {
  return [typed = typed_process<T>(std::move(process))](std::vector<AnyDelta>& deltas,
                                                        bool in_initial_list) {
    typed(deltas, in_initial_list);
    return CacheControllerHooks::Progress::kDone;
  };
}

}  // namespace detail

/// A Reflector that fills a queue, and the loop that empties it (client-go's Controller). Informers
/// are built on it. Programs can use it to process every delta themselves.
///
/// Thread safety: any method from any thread.
template <typename T>
class Controller {
 public:
  /// Receives one batch of deltas from the queue. Exceptions are logged and passed to `on_error`;
  /// the reflector then lists again, since the deltas are lost.
  using Process = std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)>;

  /// Reads from `source` into `queue`. `on_error` receives the exceptions of `process`.
  Controller(const std::shared_ptr<ListWatch<T>>& source, const DeltaQueue<T>& queue,
             Process process, ReflectorOptions options = {},
             std::function<void(const std::exception& error)> on_error = nullptr)
      : core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              detail::Inside::core(queue),
              {.process = detail::process_hook<T>(std::move(process)),
               .on_error = std::move(on_error)},
              detail::with_log_of(source, std::move(options))) {}

  /// Runs until a stop is requested, and returns when all work has ended. `process` is called by a
  /// thread of the library. Deltas still queued are dropped. Does not throw: failures are reported
  /// and retried. A second call returns immediately.
  void run(std::stop_token stop) noexcept { core_.run(std::move(stop)); }
  /// True once the first list has been processed. Stays true.
  [[nodiscard]] bool has_synced() const { return core_.has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_.synced(); }
  /// Returns the resourceVersion that was read last; empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const {
    return core_.last_sync_resource_version();
  }
  /// Returns why nothing new is processed; empty if nothing fails.
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  detail::CacheController core_;
};

}  // namespace kube
