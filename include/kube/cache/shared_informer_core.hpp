// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/cache_error.hpp>
#include <kube/cache/delta_queue_options.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/reflector_options.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace kube {

class Runtime;  // <kube/engine/runtime.hpp>

/// The kind of queue between the reflector and the store.
enum class QueueKind {
  kInOrder,    ///< all changes in the server's order; see InOrderQueue
  kDeltaFifo,  ///< the classic queue; see DeltaFifo
};

namespace detail {

/// The options of an informer, grouped by the part that uses them. See InformerOptions.
struct InformerSettings {
  Clock::Duration resync = {};
  QueueKind queue_kind = QueueKind::kInOrder;
  bool notify_unchanged = false;
  bool notify_unknown_deletes = false;
  std::size_t resync_chunk = 500;
  std::function<void(const CacheError& error)> on_error = nullptr;
  ReflectorOptions reflector = {};
  DeltaQueueOptions queue = {};
  IndexerOptions indexer = {};
};

/// The type-erased informer behind SharedIndexInformer.
class SharedInformerCore {
 public:
  using Transform = std::function<ObjectRef(const ObjectRef& object)>;

  SharedInformerCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                     InformerSettings settings);
  SharedInformerCore(const SharedInformerCore&) = delete;
  SharedInformerCore& operator=(const SharedInformerCore&) = delete;
  ~SharedInformerCore();

  /// Runs until a stop is requested, and returns when all work has ended. Throws std::bad_alloc if
  /// there is not enough memory to start, and has not started then. Later failures are reported and
  /// retried.
  void run(std::stop_token stop);
  /// Starts working on the threads of `runtime`, which must outlive ended(), and returns. Call
  /// once, or again after it threw. Throws std::bad_alloc.
  void start(const Runtime& runtime);
  /// Requests the end of the work.
  void request_stop() noexcept;
  /// Done when a stop was requested and no handler or other function of the informer is called any
  /// more.
  [[nodiscard]] const DoneSignal& ended() const noexcept;
  HandlerRegistration add_handler(AnyHandler handler, HandlerOptions options);
  void remove_handler(const HandlerRegistration& registration, Removal how);
  void set_transform(Transform transform);
  void set_watch_error_handler(std::function<void(const ReflectorError&)> handler);
  void check_not_stopped() const;

  [[nodiscard]] const std::shared_ptr<IndexerCore>& store() const noexcept { return store_; }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] bool is_stopped() const;
  /// Returns whether the calling thread is working for the informer now, for instance in a handler.
  [[nodiscard]] bool runs_here() const;
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;
  [[nodiscard]] std::size_t backlog() const;

 private:
  struct Running;
  [[nodiscard]] std::shared_ptr<Running> prepare();
  void controller_ended() noexcept;
  [[nodiscard]] std::shared_ptr<Running> running() const;

  const ObjectAccess& access_;
  const std::shared_ptr<AnyListWatch> source_;
  InformerSettings settings_;
  const std::shared_ptr<IndexerCore> store_;
  const DoneSignal synced_;
  const std::unique_ptr<class Processor> processor_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  bool started_ = false;  // all parts have been created
  bool begun_ = false;    // all parts have been started
  bool stop_requested_ = false;
  bool stopped_ = false;
  Transform transform_;
  std::shared_ptr<Running> running_;
};

/// Returns an informer that is leaked on purpose when its last owner is destroyed in a child of
/// fork().
[[nodiscard]] std::shared_ptr<SharedInformerCore> make_shared_informer(
    const ObjectAccess& access, std::shared_ptr<AnyListWatch> source, InformerSettings settings);

}  // namespace detail
}  // namespace kube
