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

/// Options of a list from a cache.
struct CacheListOptions {
  std::string namespace_{};      ///< empty: all namespaces
  std::string label_selector{};  ///< "app=web,tier!=cache"
  std::string
      field_selector{};    ///< "spec.nodeName=node-7": only fields with an index, and only with '='
  std::int64_t limit = 0;  ///< maximum number of objects; 0: all
  std::string continue_token{};  ///< only for reads from the server
};

namespace detail {

class CacheCore;
/// These implement CachedReader.
[[nodiscard]] ObjectRef find_cached(CacheCore& cache, const WatchedKind& kind, const ObjectKey& key,
                                    std::stop_token stop);
ListMetadata list_cached(CacheCore& cache, const WatchedKind& kind, const CacheListOptions& options,
                         const std::function<void(const ObjectRef& object)>& see,
                         std::stop_token stop);

}  // namespace detail

/// Reads objects of one kind from the caches of a manager, or from the server if the manager's
/// options say so. The first read of a kind waits until it is cached. A cache may lag behind: an
/// object that was just written may be missing.
///
/// Thread safety: any method from any thread. It must not outlive the manager.
template <typename T>
class CachedReader {
 public:
  /// Returns the object, or null. All methods throw CacheNotStartedError before Manager::run(),
  /// NotCachedError, and the exceptions of a client.
  [[nodiscard]] Ref<T> find(const ObjectKey& key, std::stop_token stop = {}) const {
    return detail::find_cached(*cache_, kind_, key, std::move(stop)).template to<T>();
  }
  /// Returns the object. Throws ApiError (not found) if there is none.
  [[nodiscard]] Ref<T> get(const ObjectKey& key, std::stop_token stop = {}) const {
    if (Ref<T> found = find(key, std::move(stop))) return found;
    throw not_found_error(kind_.names.resource.group_resource(), key.name);
  }
  /// Returns the matching objects in unspecified order. Throws std::invalid_argument if a selector
  /// cannot be parsed, or if there is no index for one of its fields; see Manager::index_field().
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
