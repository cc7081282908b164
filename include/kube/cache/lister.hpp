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
  NamespaceLister(IndexerView<T> indexer, GroupResource resource, std::string_view space)
      : indexer_(std::move(indexer)), resource_(std::move(resource)), namespace_(space) {}

  /// The object of that name, or null.
  [[nodiscard]] Ref<T> find(std::string_view name) const { return indexer_.find(namespace_, name); }
  /// The same; throws ApiError (not found) if there is none.
  [[nodiscard]] Ref<T> get(std::string_view name) const {
    if (Ref<T> found = find(name)) return found;
    throw not_found_error(resource_, name);
  }
  /// The objects that `selector` matches; none is no error.
  [[nodiscard]] std::vector<Ref<T>> list(const labels::Selector& selector = {}) const {
    return indexer_.list(namespace_, selector);
  }
  /// Calls `see(const T&)` for each of them, without copying.
  template <typename See>
  void for_each(const labels::Selector& selector, See see) const {
    indexer_.snapshot().for_each(namespace_, selector, std::move(see));
  }

 private:
  IndexerView<T> indexer_;
  GroupResource resource_;
  std::string namespace_;
};

/// Reads objects from the cache of an informer; never asks the server. It works before the informer has synced
/// (with what there is) and after it has stopped (with what there was).
///
/// Thread safety: any method from any thread. Cheap to copy.
template <typename T>
class Lister {
 public:
  /// For types that know their resource; errors name it in the singular, as client-go's generated listers do.
  explicit Lister(const IndexerView<T>& indexer) requires requires {
    T::kube_resource;
  } : Lister(indexer,
             {std::string{T::kube_resource.group}, std::string{T::kube_resource.singular}}) {
  }
  /// `resource` is what errors name: the plural, as in client-go's generic listers.
  Lister(const IndexerView<T>& indexer, GroupResource resource)
      : indexer_(indexer), resource_(std::move(resource)) {}

  /// The object under a whole key: the name of a cluster-scoped object, or "namespace/name". Null if absent.
  /// Braces are an ObjectKey: `find({"default", "web-0"})`.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    return indexer_.find(key);
  }
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return indexer_.find(key); }
  /// The same; throws ApiError (not found) if there is none.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> get(const Key& key) const {
    if (Ref<T> found = find(key)) return found;
    throw not_found_error(resource_, key);
  }
  [[nodiscard]] Ref<T> get(const ObjectKey& key) const {
    if (Ref<T> found = find(key)) return found;
    throw not_found_error(resource_, key.str());
  }
  /// The objects of all namespaces that `selector` matches.
  [[nodiscard]] std::vector<Ref<T>> list(const labels::Selector& selector = {}) const {
    return selector.matches_everything() ? indexer_.list() : indexer_.list("", selector);
  }
  template <typename See>
  void for_each(const labels::Selector& selector, See see) const {
    indexer_.snapshot().for_each("", selector, std::move(see));
  }
  /// The empty namespace means all.
  [[nodiscard]] NamespaceLister<T> in_namespace(std::string_view space) const {
    return {indexer_, resource_, space};
  }

 private:
  IndexerView<T> indexer_;
  GroupResource resource_;
};

}  // namespace kube
