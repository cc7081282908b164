// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/random.hpp>
#include <kube/cache/indexer.hpp>
#include <kube/cache/lister.hpp>
#include <kube/client/resource.hpp>
#include <kube/controller/cache_options.hpp>
#include <kube/informers/factory_core.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kube {

/// Which objects of a cache.
struct CacheListOptions {
  std::string namespace_{};      ///< empty: all
  std::string label_selector{};  ///< "app=web,tier!=cache"
  std::string
      field_selector{};    ///< "spec.nodeName=node-7": only fields with an index, and only with '='
  std::int64_t limit = 0;  ///< at most so many; 0: all
  std::string continue_token{};  ///< only for what is read from the server
};

namespace detail {

/// The caches of a manager: for each kind one informer, or one for each of its namespaces.
///
/// Thread safety: any method from any thread.
class CacheCore {
 public:
  using Informer = FactoryCore::Informer;
  using See = std::function<void(const ObjectRef& object)>;

  /// Throws std::invalid_argument if a kind without namespaces has some in its options, or a selector is malformed.
  CacheCore(Client client, CacheOptions options, FactoryOptions informers, Random random);

  /// The informers of a kind, which run if the caches do.
  [[nodiscard]] std::vector<Informer> informers(const WatchedKind& kind);
  void add_index(const WatchedKind& kind, const std::string& field,
                 IndexerCore::IndexFunction values);

  void start();
  void shutdown();
  [[nodiscard]] CacheSync wait_for_sync(std::stop_token stop,
                                        std::optional<Clock::Duration> timeout) {
    // Somebody who reads may be about to start one of their own.
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
  /// The same, for somebody who reads: it is started and filled.
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

}  // namespace detail

/// Reads objects of one kind from the caches of a manager, or from the server if the options of the manager say so.
/// The first to read a kind waits until it is cached. A cache may lag behind: what was just written may not be there.
///
/// Thread safety: any method from any thread. It must not outlive the manager.
template <typename T>
class CachedReader {
 public:
  /// The object, or null. All methods throw CacheNotStartedError before Manager::run(), NotCachedError, and what a
  /// client throws.
  [[nodiscard]] Ref<T> find(const ObjectKey& key, std::stop_token stop = {}) const {
    return cache_->find(kind_, key, std::move(stop)).template to<T>();
  }
  /// The object. Throws ApiError (not found) if it is not there.
  [[nodiscard]] Ref<T> get(const ObjectKey& key, std::stop_token stop = {}) const {
    if (Ref<T> found = find(key, std::move(stop))) return found;
    throw not_found_error(kind_.names.resource.group_resource(), key.name);
  }
  /// In no order. Throws std::invalid_argument if a selector cannot be understood, or if there is no index for one
  /// of its fields; see Manager::index_field().
  [[nodiscard]] Listed<T> list(const CacheListOptions& options = {},
                               std::stop_token stop = {}) const {
    Listed<T> listed;
    listed.metadata = cache_->list(
        kind_, options,
        [&](const detail::ObjectRef& object) { listed.items.push_back(object.template to<T>()); },
        std::move(stop));
    return listed;
  }

 private:
  friend struct detail::Inside;
  CachedReader(detail::CacheCore& cache, detail::WatchedKind kind)
      : cache_(&cache), kind_(std::move(kind)) {}

  detail::CacheCore* cache_;
  detail::WatchedKind kind_;
};

}  // namespace kube
