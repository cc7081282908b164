// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/api/group_version.hpp>
#include <kube/api/labels.hpp>
#include <kube/api/resource_info.hpp>
#include <kube/cache/indexer_view.hpp>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Reads the objects of one namespace from a cache. See Lister.
template <typename T>
class NamespaceLister {
 public:
  /// Errors name `resource`. Usually made by Lister::in_namespace().
  NamespaceLister(IndexerView<T> indexer, GroupResource resource, std::string_view space)
      : indexer_(std::move(indexer)), resource_(std::move(resource)), namespace_(space) {}

  /// Returns the object of that name, or null.
  [[nodiscard]] Ref<T> find(std::string_view name) const { return indexer_.find(namespace_, name); }
  /// Returns the object of that name. Throws ApiError (not found) if there is none.
  [[nodiscard]] Ref<T> get(std::string_view name) const {
    if (Ref<T> found = find(name)) return found;
    throw not_found_error(resource_, name);
  }
  /// Returns the objects that match `selector`; an empty result is not an error.
  [[nodiscard]] std::vector<Ref<T>> list(const labels::Selector& selector = {}) const {
    return indexer_.list(namespace_, selector);
  }
  /// Calls `see(const T&)` for each object that matches, without copying.
  template <typename See>
  void for_each(const labels::Selector& selector, See see) const {
    indexer_.snapshot().for_each(namespace_, selector, std::move(see));
  }

 private:
  IndexerView<T> indexer_;
  GroupResource resource_;
  std::string namespace_;
};

/// Reads objects from the cache of an informer; never sends a request. Works before the informer
/// has synced (with the objects so far) and after it has stopped (with the last state).
///
/// Thread safety: any method from any thread. Cheap to copy.
template <typename T>
class Lister {
 public:
  /// For types that know their resource. Errors name the resource in the singular, as client-go's
  /// generated listers do.
  explicit Lister(const IndexerView<T>& indexer) requires requires {
    T::kube_resource;
  } : Lister(indexer,
             {std::string{T::kube_resource.group}, std::string{T::kube_resource.singular}}) {
  }
  /// Errors name `resource`: the plural, as in client-go's generic listers.
  Lister(const IndexerView<T>& indexer, GroupResource resource)
      : indexer_(indexer), resource_(std::move(resource)) {}

  /// Returns the object with a full key, or null: the name of a cluster-scoped object, or
  /// "namespace/name". Braces make an ObjectKey: `find({"default", "web-0"})`.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    return indexer_.find(key);
  }
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return indexer_.find(key); }
  /// Returns the object with a full key. Throws ApiError (not found) if there is none.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> get(const Key& key) const {
    if (Ref<T> found = find(key)) return found;
    throw not_found_error(resource_, key);
  }
  [[nodiscard]] Ref<T> get(const ObjectKey& key) const {
    if (Ref<T> found = find(key)) return found;
    throw not_found_error(resource_, key.str());
  }
  /// Returns the objects of all namespaces that match `selector`.
  [[nodiscard]] std::vector<Ref<T>> list(const labels::Selector& selector = {}) const {
    return selector.matches_everything() ? indexer_.list() : indexer_.list("", selector);
  }
  /// Calls `see(const T&)` for each object that matches, in all namespaces, without copying.
  template <typename See>
  void for_each(const labels::Selector& selector, See see) const {
    indexer_.snapshot().for_each("", selector, std::move(see));
  }
  /// Returns a lister of one namespace; the empty namespace means all.
  [[nodiscard]] NamespaceLister<T> in_namespace(std::string_view space) const {
    return {indexer_, resource_, space};
  }

 private:
  IndexerView<T> indexer_;
  GroupResource resource_;
};

}  // namespace kube
