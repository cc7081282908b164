// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/random.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/controller/cache_options.hpp>
#include <kube/controller/cached_reader.hpp>
#include <kube/informers/factory_core.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube::detail {

/// The caches of a manager: for each kind one informer, or one per configured namespace.
///
/// Thread safety: any method from any thread.
class CacheCore {
 public:
  using Informer = FactoryCore::Informer;
  using See = std::function<void(const ObjectRef& object)>;

  /// Throws std::invalid_argument if a cluster-scoped kind has namespaces in its options, or a
  /// selector is malformed.
  CacheCore(Client client, CacheOptions options, FactoryOptions informers, Random random);

  /// Returns the informers of a kind. They run if the caches do.
  [[nodiscard]] std::vector<Informer> informers(const WatchedKind& kind);
  void add_index(const WatchedKind& kind, const std::string& field,
                 IndexerCore::IndexFunction values);

  void start();
  void shutdown();
  /// That of the client. Throws as its constructor.
  [[nodiscard]] std::shared_ptr<Runtime> runtime() const;
  [[nodiscard]] CacheSync wait_for_sync(std::stop_token stop,
                                        std::optional<Clock::Duration> timeout) {
    // A concurrent reader may be about to start another informer.
    return factory_.wait_for_cache_sync(std::move(stop), timeout, FactoryCore::Unstarted::kIgnore);
  }

  [[nodiscard]] ObjectRef find(const WatchedKind& kind, const ObjectKey& key, std::stop_token stop);
  ListMetadata list(const WatchedKind& kind, const CacheListOptions& options, const See& see,
                    std::stop_token stop);

 private:
  struct Part {
    std::string namespace_;
    CacheScope scope;
    Informer informer;
  };
  using Kind = std::vector<Part>;
  using KindKey = std::pair<const Type*, GroupVersionResource>;

  [[nodiscard]] const KindCacheOptions* own_options(const WatchedKind& kind) const;
  [[nodiscard]] Kind plan(const WatchedKind& kind) const;
  [[nodiscard]] std::shared_ptr<const Kind> find_or_make(const WatchedKind& kind);
  /// Like kind(), for readers: the informers are started and filled.
  [[nodiscard]] std::shared_ptr<const Kind> ready(const WatchedKind& kind, std::stop_token stop);
  [[nodiscard]] static const Part& part_of(const WatchedKind& kind, const Kind& cached,
                                           const std::string& space);
  [[nodiscard]] bool is_read_live(const WatchedKind& kind) const;
  [[nodiscard]] ResourceCore resource(const WatchedKind& kind, const std::string& space) const;

  const CacheOptions options_;
  const Random random_;
  FactoryCore factory_;
  std::stop_source stopping_;
  std::mutex making_;  // held while a kind is made, so that each is made once

  std::mutex mutex_;
  // Guarded by mutex_:
  bool started_ = false;
  std::map<KindKey, std::shared_ptr<const Kind>> kinds_;
};

}  // namespace kube::detail
