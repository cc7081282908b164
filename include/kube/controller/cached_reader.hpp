// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/inside.hpp>
#include <kube/client/resource.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/controller/watched_kind.hpp>
#include <kube/object/object_ref.hpp>

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

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

class CacheCore;
/// See CachedReader.
[[nodiscard]] ObjectRef find_cached(CacheCore& cache, const WatchedKind& kind, const ObjectKey& key,
                                    std::stop_token stop);
ListMetadata list_cached(CacheCore& cache, const WatchedKind& kind, const CacheListOptions& options,
                         const std::function<void(const ObjectRef& object)>& see,
                         std::stop_token stop);

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
    return detail::find_cached(*cache_, kind_, key, std::move(stop)).template to<T>();
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
    listed.metadata = detail::list_cached(
        *cache_, kind_, options,
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
