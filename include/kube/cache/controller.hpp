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
  /// How far a call came. kBlocked: a handler is behind; the controller's waker is woken when it is not any more.
  enum class Progress { kDone, kMore, kBlocked };

  /// Processes what was taken from the queue. What it throws is counted and handed to `on_error`, and the reflector
  /// lists again, since the deltas are gone.
  std::function<Progress(std::vector<AnyDelta>& deltas, bool in_initial_list)> process = nullptr;
  /// `process` can be called again with the deltas that it has thrown for, and does the rest. So it is, after a
  /// pause, until they are processed or a stop is requested.
  bool retries = false;
  /// Does a part of long work between deltas. May be absent. Called again after it has thrown.
  std::function<Progress()> go_on = nullptr;
  /// What it throws is swallowed.
  std::function<void(const std::exception& error)> on_error = nullptr;
  /// What the deltas go into, for metrics. May be absent.
  std::shared_ptr<const IndexerCore> store = nullptr;
  /// `process` calls user code that may block, so it runs on workers only.
  bool may_block = true;
  /// Called once, when everything has ended, by the thread that ended it. May be absent. Must not throw.
  std::function<void()> on_end = nullptr;
};

/// The Controller of a type that is known elsewhere: a job that polls the reflector, takes its deltas from the queue and
/// processes them, in turns.
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

  /// Works until a stop is requested, and returns when everything has ended. What is queued then is dropped. Throws
  /// nothing: what fails, for instance because there is no memory or no thread, is reported and tried again. A second
  /// call returns at once.
  void run(std::stop_token stop) noexcept;
  /// Begins to work in the threads of `runtime`. Once, or again after it has thrown. Throws std::bad_alloc.
  void start(const Runtime& runtime);
  /// Ends the work soon; on_end is called then. After start().
  void stop() noexcept;
  /// Waits until it has ended, and until no call of a source that blocks is under way. After start().
  void join() noexcept;
  /// Calls `work` until it does not throw, with pauses between; each failure is reported, and last_error() meanwhile.
  /// Returns false if a stop is requested first; `work` is called once at least.
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
  /// The one to start() with: that of the client behind the source, or the one that informers without a client share.
  /// Throws as the constructor of Runtime.
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const;
  /// Is woken by handlers that were behind.
  [[nodiscard]] std::shared_ptr<Waker> waker() const noexcept;
  /// Whether the calling thread works for the controller now.
  [[nodiscard]] bool runs_here() const noexcept;

  /// True once the first list was processed. Stays true.
  [[nodiscard]] bool has_synced() const { return queue_->has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return queue_->synced(); }
  /// Empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const;
  /// Why nothing new is processed: what keeps failing here, or why the source gives nothing. Empty if all is well.
  [[nodiscard]] std::string last_error() const;
  [[nodiscard]] std::size_t queued() const { return queue_->size(); }
  /// Counts an error of processing and hands it to `on_error`.
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

/// `process` as a hook of a CacheController.
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

/// A Reflector that fills a queue, and the loop that empties it: informers are made of it, and so can be programs that
/// want to see every delta themselves.
///
/// Thread safety: any method from any thread.
template <typename T>
class Controller {
 public:
  /// Gets the deltas that were taken from the queue at once. Its exceptions are logged and handed to `on_error`; the
  /// reflector then lists again, since the deltas are gone.
  using Process = std::function<void(const std::vector<Delta<T>>& deltas, bool in_initial_list)>;

  Controller(const std::shared_ptr<ListWatch<T>>& source, const DeltaQueue<T>& queue,
             Process process, ReflectorOptions options = {},
             std::function<void(const std::exception& error)> on_error = nullptr)
      : core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              detail::Inside::core(queue),
              {.process = detail::process_hook<T>(std::move(process)),
               .on_error = std::move(on_error)},
              detail::with_log_of(source, std::move(options))) {}

  /// Works until a stop is requested, and returns when everything has ended; `process` is called by a thread of the
  /// library. Queued deltas are dropped then. Throws nothing: failures are reported and tried again. A second call
  /// returns at once.
  void run(std::stop_token stop) noexcept { core_.run(std::move(stop)); }
  /// True once the first list was processed. Stays true.
  [[nodiscard]] bool has_synced() const { return core_.has_synced(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_.synced(); }
  /// Empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const {
    return core_.last_sync_resource_version();
  }
  /// Why nothing new is processed; empty if nothing fails.
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  detail::CacheController core_;
};

}  // namespace kube
