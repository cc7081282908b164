// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/event_handler.hpp>
#include <kube/cache/informer_options.hpp>
#include <kube/cache/shared_informer_core.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {

/// Keeps a cache of all objects of one resource and reports changes to any number of handlers
/// (client-go: SharedIndexInformer).
///
/// 1. The states of one object that the cache shows are among those it had on the server, in that
/// order.
/// 2. Calls of one handler never overlap. Handlers do not wait for each other.
/// 3. When a handler is called, the cache is at least as new as the state passed to the handler.
/// 4. A handler that is added late receives each existing object, then every change; nothing is
/// missed, and nothing is reported twice.
/// 5. An object is identified by namespace and name alone: one that was deleted and created again
/// may look updated.
/// 6. Unchanged objects are not reported, except by a resync.
///
/// Thread safety: any method from any thread.
/// Ownership: copies refer to the same informer. Cached objects are shared and immutable.
template <typename T>
class SharedIndexInformer {
 public:
  /// Reads from `source` once run() is called. Programs usually get informers from a
  /// SharedInformerFactory.
  explicit SharedIndexInformer(const std::shared_ptr<ListWatch<T>>& source,
                               InformerOptions<T> options = {})
      : SharedIndexInformer(detail::make_shared_informer(
            detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
            detail::informer_settings_of(options, source))) {
    Indexers<T> own = std::move(options.indexers);
    own.erase(std::string{kNamespaceIndex});
    indexer_.add_indexers(own);
    core_->set_transform(detail::erase_transform(options.transform));
  }

  /// Runs until a stop is requested. Returns when no handler is called any more. An informer runs
  /// once: later calls return immediately. Throws std::bad_alloc if there is not enough memory to
  /// start, and has not started then. Later failures are reported and retried.
  void run(std::stop_token stop) { core_->run(std::move(stop)); }

  /// Adds a handler. Throws std::logic_error if the informer has stopped.
  HandlerRegistration add_event_handler(EventHandler<T> handler, HandlerOptions options = {}) {
    return core_->add_handler(detail::erase_handler(std::move(handler)), std::move(options));
  }
  /// Removes a handler; does nothing if it is not (or no longer) registered with this informer. A
  /// handler may remove itself; the call does not wait for it then.
  void remove_event_handler(const HandlerRegistration& registration,
                            Removal how = Removal::kAtOnce) {
    core_->remove_handler(registration, how);
  }

  /// Returns the cache. It can be used before the start, and after the stop.
  [[nodiscard]] const IndexerView<T>& indexer() const noexcept { return indexer_; }
  /// Adds indexes. Throws std::logic_error if the informer has stopped, std::invalid_argument if a
  /// name is taken.
  void add_indexers(const Indexers<T>& indexers) {
    core_->check_not_stopped();
    indexer_.add_indexers(indexers);
  }

  /// Sets the transform. Throws std::logic_error after the start.
  void set_transform(const Transform<T>& transform) {
    core_->set_transform(detail::erase_transform(transform));
  }
  /// Replaces the function that receives the error of each failed list or watch; see
  /// ReflectorOptions::on_error. Throws std::logic_error after the start.
  void set_watch_error_handler(std::function<void(const ReflectorError& error)> handler) {
    core_->set_watch_error_handler(std::move(handler));
  }

  /// True once the first list is in the cache. This does not mean that handlers have been called:
  /// see HandlerRegistration::has_synced().
  [[nodiscard]] bool has_synced() const { return core_->synced().done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_->synced(); }
  [[nodiscard]] bool is_stopped() const { return core_->is_stopped(); }
  /// Returns the version that was read last; the cache may lag behind a little. Empty before the
  /// first list.
  [[nodiscard]] std::string last_sync_resource_version() const { return core_->last_version(); }
  /// Returns why there are no updates, as far as known: "not started", or the last error of list or
  /// watch. Empty if there is no problem.
  [[nodiscard]] std::string last_error() const { return core_->last_error(); }
  /// Returns the number of notifications that wait for handlers.
  [[nodiscard]] std::size_t backlog() const { return core_->backlog(); }

  /// Returns whether both refer to the same informer.
  friend bool operator==(const SharedIndexInformer& a, const SharedIndexInformer& b) noexcept {
    return a.core_ == b.core_;
  }

 private:
  friend struct detail::Inside;
  explicit SharedIndexInformer(std::shared_ptr<detail::SharedInformerCore> core)
      : core_(std::move(core)), indexer_(detail::Inside::make<Indexer<T>>(core_->store())) {}

  std::shared_ptr<detail::SharedInformerCore> core_;
  Indexer<T> indexer_;
};

}  // namespace kube
