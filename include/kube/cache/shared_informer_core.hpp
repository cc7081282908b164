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

/// Which queue stands between the reflector and the store.
enum class QueueKind {
  kInOrder,    ///< all changes in the order of the server; see InOrderQueue
  kDeltaFifo,  ///< the classic one; see DeltaFifo
};

namespace detail {

/// The options of an informer, by the part that they are for. See InformerOptions.
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

/// The informer behind SharedIndexInformer.
class SharedInformerCore {
 public:
  using Transform = std::function<ObjectRef(const ObjectRef& object)>;

  SharedInformerCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                     InformerSettings settings);
  SharedInformerCore(const SharedInformerCore&) = delete;
  SharedInformerCore& operator=(const SharedInformerCore&) = delete;
  ~SharedInformerCore();

  /// Works until a stop is requested, and returns when everything has ended. Throws std::bad_alloc if there is no memory to
  /// begin with; the informer has not started then. What fails later is reported and tried again.
  void run(std::stop_token stop);
  /// Begins to work in the threads of `runtime`, which must outlive ended(), and returns. Once, or again after it has
  /// thrown. Throws std::bad_alloc.
  void start(const Runtime& runtime);
  /// Ends the work soon.
  void request_stop() noexcept;
  /// Happens when a stop was requested and neither a handler nor anything else of it is called any more.
  [[nodiscard]] const DoneSignal& ended() const noexcept;
  HandlerRegistration add_handler(AnyHandler handler, HandlerOptions options);
  void remove_handler(const HandlerRegistration& registration, Removal how);
  void set_transform(Transform transform);
  void set_watch_error_handler(std::function<void(const ReflectorError&)> handler);
  void check_not_stopped() const;

  [[nodiscard]] const std::shared_ptr<IndexerCore>& store() const noexcept { return store_; }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return synced_; }
  [[nodiscard]] bool is_stopped() const;
  /// Whether the calling thread is one of the informer's: that of a handler, say.
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
  bool started_ = false;  // its parts exist
  bool begun_ = false;    // and work
  bool stop_requested_ = false;
  bool stopped_ = false;
  Transform transform_;
  std::shared_ptr<Running> running_;
};

/// In a child of fork() it stays when its last owner goes.
[[nodiscard]] std::shared_ptr<SharedInformerCore> make_shared_informer(
    const ObjectAccess& access, std::shared_ptr<AnyListWatch> source, InformerSettings settings);

}  // namespace detail
}  // namespace kube
