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

/// Which objects a cache holds; what is not set is inherited.
struct CacheScope {
  std::optional<std::string> label_selector{};
  std::optional<std::string> field_selector{};
  /// How often controllers see all objects again; 0: never.
  std::optional<Clock::Duration> sync_period{};
};
/// Namespaces to cache, each with what is special there. The name "" among others means all others.
using CacheNamespaces = std::map<std::string, CacheScope>;

/// What is different for the objects of one type; see cached().
template <typename T>
struct TypeCacheOptions {
  /// Not set: as the manager has it. Empty: all.
  std::optional<CacheNamespaces> namespaces{};
  std::optional<std::string> label_selector{};
  std::optional<std::string> field_selector{};
  std::optional<Clock::Duration> sync_period{};
  /// What to keep of each object; the rest is skipped before anything is allocated.
  Projection projection{};
  /// Changes each object before it is stored.
  Transform<T> transform{};
  ResourceKind kind{};  ///< if T is Value or meta::v1::PartialObjectMetadata
};

namespace detail {
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

/// For CacheOptions::by_object: `cached<core::v1::Pod>({.label_selector = "app=web"})`.
template <typename T>
[[nodiscard]] CachedKind cached(TypeCacheOptions<T> options) {
  return detail::Inside::make<CachedKind>(detail::KindCacheOptions{
      detail::watched_kind<T>(options.kind),
      std::move(options.namespaces),
      {std::move(options.label_selector), std::move(options.field_selector), options.sync_period},
      std::move(options.projection),
      detail::erase_transform(options.transform)});
}

/// What a manager caches, and what it reads from there. Any field may be left out.
struct CacheOptions {
  CacheNamespaces namespaces{};  ///< empty: all
  std::optional<std::string> label_selector{};
  std::optional<std::string> field_selector{};
  /// Spread by a tenth in both directions, for each kind anew.
  Clock::Duration sync_period = std::chrono::hours{10};
  std::vector<CachedKind> by_object{};
  /// Fields that no cached object needs, as paths in JSON: "metadata.managedFields".
  std::vector<std::string> leave_out{};

  /// Reading a kind that nobody has cached yet throws NotCachedError, instead of caching it.
  bool fail_on_missing_informer = false;
  /// Read documents without a type (Value) from a cache, too.
  bool cache_unstructured = false;
  /// Kinds that are always read from the server.
  std::vector<GroupKind> uncached{};
};

/// The caches have not been started, or have been stopped.
class CacheNotStartedError : public Error {
 public:
  using Error::Error;
};
/// There is no cache of that kind, or it does not hold that namespace. Says nothing about whether the object exists.
class NotCachedError : public Error {
 public:
  using Error::Error;
};

}  // namespace kube
