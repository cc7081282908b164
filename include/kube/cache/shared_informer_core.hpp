// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/delta_queue_core.hpp>
#include <kube/cache/done_signal.hpp>
#include <kube/cache/handler_registration.hpp>
#include <kube/cache/indexer_core.hpp>
#include <kube/cache/list_watch.hpp>
#include <kube/cache/reflector.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace kube {

/// Which queue stands between the reflector and the store.
enum class QueueKind {
  kInOrder,    ///< all changes in the order of the server; see InOrderQueue
  kDeltaFifo,  ///< the classic one; see DeltaFifo
};

/// How an informer treats changes, besides what the reflector and the queue do.
struct InformerBehaviour {
  /// How often handlers see all objects again, from the cache; 0: never.
  Clock::Duration resync = {};
  QueueKind queue_kind = QueueKind::kInOrder;
  /// As client-go: after a new list, tell handlers of objects that have not changed, too.
  bool notify_unchanged = false;
  /// As client-go: tell of the deletion of objects that were never in the cache.
  bool notify_unknown_deletes = false;
  /// Objects that a resync shows before other changes have their turn.
  std::size_t resync_chunk = 500;
  /// Hears of changes that could not be applied, and of what an informer could not do for the lack of memory or
  /// threads and will try again.
  std::function<void(const std::exception& error)> on_processing_error = nullptr;
};

namespace detail {

/// The informer behind SharedIndexInformer.
class SharedInformerCore {
 public:
  using Transform = std::function<ObjectRef(const ObjectRef& object)>;

  SharedInformerCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source,
                     InformerBehaviour behaviour, ReflectorOptions reflector,
                     DeltaQueueOptions queue, IndexerOptions indexer);
  SharedInformerCore(const SharedInformerCore&) = delete;
  SharedInformerCore& operator=(const SharedInformerCore&) = delete;
  ~SharedInformerCore();

  /// Throws std::bad_alloc if there is no memory to begin with; the informer has not started then. What fails later is
  /// reported and tried again.
  void run(std::stop_token stop);
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
  [[nodiscard]] std::shared_ptr<Running> start();
  [[nodiscard]] std::shared_ptr<Running> running() const;

  const ObjectAccess& access_;
  const std::shared_ptr<AnyListWatch> source_;
  const InformerBehaviour behaviour_;
  ReflectorOptions reflector_;
  DeltaQueueOptions queue_;
  const std::shared_ptr<IndexerCore> store_;
  const DoneSignal synced_;
  const std::unique_ptr<class Processor> processor_;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  bool started_ = false;
  bool stopped_ = false;
  Transform transform_;
  std::shared_ptr<Running> running_;
};

}  // namespace detail
}  // namespace kube
