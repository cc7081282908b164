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

/// Keeps a cache of all objects of one resource and tells any number of handlers what changes.
///
/// 1. The states of one object that the cache shows are among those it had on the server, in that order.
/// 2. A handler is called call after call, never twice at a time. Handlers do not wait for each other.
/// 3. When a handler is called, the cache is at least as new as what the call tells.
/// 4. A handler that is added late is told of each object that exists, then of all that changes; nothing is
///    missed, and nothing told twice.
/// 5. An object is known by namespace and name alone: one that was deleted and made again may look updated.
/// 6. What has not changed is not told, unless a resync shows it again.
///
/// Thread safety: any method from any thread.
/// Ownership: copies are the same informer. Cached objects are shared and immutable; nobody can change them by
/// accident.
template <typename T>
class SharedIndexInformer {
 public:
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

  /// Works until a stop is requested. Returns when no handler is called any more. An informer runs
  /// once: later calls return at once. Throws std::bad_alloc if there is no memory to begin with, and has not started
  /// then; what fails later is reported and tried again.
  void run(std::stop_token stop) { core_->run(std::move(stop)); }

  /// Throws std::logic_error if the informer has stopped.
  HandlerRegistration add_event_handler(EventHandler<T> handler, HandlerOptions options = {}) {
    return core_->add_handler(detail::erase_handler(std::move(handler)), std::move(options));
  }
  /// Does nothing if the handler is not (or no longer) with this informer. A handler may remove itself; it is
  /// not waited for then.
  void remove_event_handler(const HandlerRegistration& registration,
                            Removal how = Removal::kAtOnce) {
    core_->remove_handler(registration, how);
  }

  /// The cache. Works before the start, too, and after the stop.
  [[nodiscard]] const IndexerView<T>& indexer() const noexcept { return indexer_; }
  /// Throws std::logic_error if the informer has stopped, std::invalid_argument if a name is taken.
  void add_indexers(const Indexers<T>& indexers) {
    core_->check_not_stopped();
    indexer_.add_indexers(indexers);
  }

  /// Only before the start; throws std::logic_error afterwards.
  void set_transform(const Transform<T>& transform) {
    core_->set_transform(detail::erase_transform(transform));
  }
  void set_watch_error_handler(std::function<void(const ReflectorError& error)> handler) {
    core_->set_watch_error_handler(std::move(handler));
  }

  /// True once the first list is in the cache. Says nothing about handlers; ask their registrations.
  [[nodiscard]] bool has_synced() const { return core_->synced().done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_->synced(); }
  [[nodiscard]] bool is_stopped() const { return core_->is_stopped(); }
  /// The version that was read last; the cache may lag behind a little. Empty before the first list.
  [[nodiscard]] std::string last_sync_resource_version() const { return core_->last_version(); }
  /// Why there is nothing new, as far as known: "not started", or the last error of list or watch. Empty if
  /// all is well.
  [[nodiscard]] std::string last_error() const { return core_->last_error(); }
  /// Notifications that wait for handlers.
  [[nodiscard]] std::size_t backlog() const { return core_->backlog(); }

  /// Whether both are the same informer.
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
