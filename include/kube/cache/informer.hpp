// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/cache/event_handler.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/shared_informer.hpp>

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {
namespace detail {

/// The type-erased informer behind Informer.
class InformerCore {
 public:
  InformerCore(const ObjectAccess& access, std::shared_ptr<AnyListWatch> source, AnyHandler handler,
               InformerSettings given, std::function<ObjectRef(const ObjectRef&)> transform);
  ~InformerCore();

  void run(std::stop_token stop);
  [[nodiscard]] const std::shared_ptr<IndexerCore>& store() const noexcept { return store_; }
  [[nodiscard]] const DoneSignal& synced() const noexcept;
  [[nodiscard]] std::string last_version() const;
  [[nodiscard]] std::string last_error() const;

 private:
  struct Parts;
  InformerCore(const InformerSettings& settings, const ObjectAccess& access,
               std::shared_ptr<AnyListWatch> source, AnyHandler handler,
               std::function<ObjectRef(const ObjectRef&)> transform);

  const std::shared_ptr<IndexerCore> store_;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace detail

/// A cache with one handler, called synchronously between two changes of the cache: a slow handler
/// delays everything. Prefer SharedIndexInformer.
///
/// Thread safety: any method from any thread.
template <typename T>
class Informer {
 public:
  /// Reads from `source` once run() is called.
  Informer(const std::shared_ptr<ListWatch<T>>& source, EventHandler<T> handler,
           InformerOptions<T> options = {})
      : core_(detail::kObjectAccess<T>, std::make_shared<detail::ErasedListWatch<T>>(source),
              detail::erase_handler(std::move(handler)),
              detail::informer_settings_of(options, source),
              detail::erase_transform(options.transform)),
        store_(detail::Inside::make<Indexer<T>>(core_.store())) {
    Indexers<T> own = std::move(options.indexers);
    own.erase(std::string{kNamespaceIndex});
    store_.add_indexers(own);
  }

  /// Runs until a stop is requested. Can be called once. Exceptions of the handler are passed to
  /// InformerOptions::on_error.
  void run(std::stop_token stop) { core_.run(std::move(stop)); }
  [[nodiscard]] const IndexerView<T>& store() const noexcept { return store_; }
  [[nodiscard]] bool has_synced() const { return core_.synced().done(); }
  [[nodiscard]] const DoneSignal& synced() const noexcept { return core_.synced(); }
  [[nodiscard]] std::string last_sync_resource_version() const { return core_.last_version(); }
  [[nodiscard]] std::string last_error() const { return core_.last_error(); }

 private:
  detail::InformerCore core_;
  Indexer<T> store_;
};

/// Makes an informer with a store and one handler (client-go: NewInformer).
template <typename T>
[[nodiscard]] std::unique_ptr<Informer<T>> new_informer(std::shared_ptr<ListWatch<T>> source,
                                                        EventHandler<T> handler,
                                                        InformerOptions<T> options = {}) {
  return std::make_unique<Informer<T>>(std::move(source), std::move(handler), std::move(options));
}

/// Makes an informer with indexes and one handler (client-go: NewIndexerInformer).
template <typename T>
[[nodiscard]] std::unique_ptr<Informer<T>> new_indexer_informer(
    std::shared_ptr<ListWatch<T>> source, EventHandler<T> handler, Indexers<T> indexers,
    InformerOptions<T> options = {}) {
  options.indexers.merge(indexers);
  return new_informer<T>(std::move(source), std::move(handler), std::move(options));
}

}  // namespace kube
