// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/cache/transform.hpp>
#include <kube/codec/projection.hpp>
#include <kube/controller/watched_kind.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kube {

/// Selects the objects that a cache holds. Members that are not set are inherited.
struct CacheScope {
  /// Only objects with these labels: "app=web,tier!=cache".
  std::optional<std::string> label_selector{};
  /// Only objects with these fields: "spec.nodeName=node-7".
  std::optional<std::string> field_selector{};
  /// Resync period: how often controllers receive all objects again. 0: never.
  std::optional<Clock::Duration> sync_period{};
};
/// Namespaces to cache, each with its own scope. The name "" stands for all namespaces not listed.
using CacheNamespaces = std::map<std::string, CacheScope>;

/// Cache settings for the objects of one type; see cached().
template <typename T>
struct TypeCacheOptions {
  /// If not set: as in the manager's options. Empty: all namespaces.
  std::optional<CacheNamespaces> namespaces{};
  /// If not set: as in the manager's options.
  std::optional<std::string> label_selector{};
  /// If not set: as in the manager's options.
  std::optional<std::string> field_selector{};
  /// If not set: as in the manager's options.
  std::optional<Clock::Duration> sync_period{};
  /// Fields to keep of each object; the decoder skips the rest without allocating it.
  Projection projection{};
  /// Changes each object before it is stored.
  Transform<T> transform{};
  ResourceKind kind{};  ///< required if T is Value or meta::v1::PartialObjectMetadata
};

namespace detail {
/// Type-erased TypeCacheOptions.
struct KindCacheOptions {
  WatchedKind kind;
  std::optional<CacheNamespaces> namespaces;
  CacheScope scope;
  Projection projection;
  std::function<ObjectRef(const ObjectRef& object)> transform;
};
}  // namespace detail

/// The options of one kind; see cached().
class CachedKind {
 private:
  friend struct detail::Inside;
  explicit CachedKind(detail::KindCacheOptions core) : core_(std::move(core)) {}

  detail::KindCacheOptions core_;
};

/// Makes an entry of CacheOptions::by_object: `cached<core::v1::Pod>({.label_selector =
/// "app=web"})`.
template <typename T>
[[nodiscard]] CachedKind cached(TypeCacheOptions<T> options) {
  return detail::Inside::make<CachedKind>(detail::KindCacheOptions{
      detail::watched_kind<T>(options.kind),
      std::move(options.namespaces),
      {std::move(options.label_selector), std::move(options.field_selector), options.sync_period},
      std::move(options.projection),
      detail::erase_transform(options.transform)});
}

/// Settings of a manager's caches, and of reads from them. Any field may be left out.
struct CacheOptions {
  CacheNamespaces namespaces{};  ///< empty: all
  /// Default for all kinds; see CacheScope.
  std::optional<std::string> label_selector{};
  /// Default for all kinds; see CacheScope.
  std::optional<std::string> field_selector{};
  /// Resync period. Each kind draws its own jitter of up to a tenth in both directions.
  Clock::Duration sync_period = std::chrono::hours{10};
  /// Settings of single kinds; see cached().
  std::vector<CachedKind> by_object{};
  /// Fields to drop from all cached objects, as paths in JSON: "metadata.managedFields".
  std::vector<std::string> leave_out{};

  /// Reading a kind that is not cached yet throws NotCachedError instead of starting a cache for
  /// it.
  bool fail_on_missing_informer = false;
  /// Reads untyped documents (Value) from a cache, too.
  bool cache_unstructured = false;
  /// Kinds that are always read from the server.
  std::vector<GroupKind> uncached{};
};

/// The caches have not been started, or have been stopped.
class CacheNotStartedError : public Error {
 public:
  using Error::Error;
};
/// There is no cache of that kind, or it does not cover that namespace. The object may or may not
/// exist.
class NotCachedError : public Error {
 public:
  using Error::Error;
};

}  // namespace kube
