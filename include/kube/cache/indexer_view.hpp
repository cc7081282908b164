// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/cache/snapshot.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Read access to a set of objects, by key, through named indexes, or by labels: the cache of an
/// informer, or an Indexer. There is an index of namespaces unless IndexerOptions turns it off.
///
/// Reads are lock-free, and readers and writers never wait for each other. Each query is answered
/// from one state of the set; two queries may see two. Take a snapshot() to make several queries on
/// one state.
/// Thread safety: any method from any thread.
/// Ownership: copies refer to the same set, and keep it alive. Objects are shared and immutable; a
/// Ref stays valid after its object has left the set.
template <typename T>
class IndexerView {
 public:
  /// Returns the newest state.
  [[nodiscard]] Snapshot<T> snapshot() const {
    return detail::Inside::make<Snapshot<T>>(core_->snapshot());
  }

  // Each of these queries the newest snapshot.
  [[nodiscard]] std::size_t size() const { return snapshot().size(); }
  [[nodiscard]] std::string resource_version() const { return snapshot().resource_version(); }
  /// Returns the object, or null; see Snapshot::find().
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return find(key.namespace_, key.name); }
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    const auto parts = detail::KeyParts::of(key);
    return find(parts.namespace_, parts.name);
  }
  [[nodiscard]] Ref<T> find(std::string_view space, std::string_view name) const {
    return core_->find(space, name).template to<T>();
  }
  /// Returns all objects, or those of a namespace (empty: of all) that match a selector; see
  /// Snapshot::list().
  [[nodiscard]] std::vector<Ref<T>> list() const { return snapshot().list(); }
  [[nodiscard]] std::vector<Ref<T>> list(std::string_view space,
                                         const labels::Selector& selector = {}) const {
    return snapshot().list(space, selector);
  }
  [[nodiscard]] std::vector<std::string> keys() const { return snapshot().keys(); }
  /// See Snapshot::by_index().
  [[nodiscard]] std::vector<Ref<T>> by_index(std::string_view name, std::string_view value) const {
    return snapshot().by_index(name, value);
  }
  /// See Snapshot::index_keys().
  [[nodiscard]] std::vector<std::string> index_keys(std::string_view name,
                                                    std::string_view value) const {
    return snapshot().index_keys(name, value);
  }
  /// See Snapshot::index_values().
  [[nodiscard]] std::vector<std::string> index_values(std::string_view name) const {
    return snapshot().index_values(name);
  }
  [[nodiscard]] std::vector<std::string> index_names() const { return snapshot().index_names(); }
  /// Returns the objects that share a value of the index with `example`, which need not be stored.
  /// Throws the exceptions of the index function, and std::out_of_range if there is no such index.
  [[nodiscard]] std::vector<Ref<T>> index(std::string_view name, const T& example) const {
    return snapshot().by_any(name, core_->index_values_of(name, &example));
  }

  /// Waits until the set has reached `resource_version`, so that a client can read its own write.
  /// Returns false after `timeout` or a stop. A version that is not a number is reached only by
  /// equality.
  [[nodiscard]] bool wait_for_version(std::string_view resource_version,
                                      std::optional<Clock::Duration> timeout = std::nullopt,
                                      std::stop_token stop = {}) const {
    return core_->wait_for_version(resource_version, timeout, std::move(stop));
  }

 private:
  friend struct detail::Inside;
  template <typename U>
  friend class Indexer;
  explicit IndexerView(std::shared_ptr<detail::IndexerCore> core) : core_(std::move(core)) {}

  std::shared_ptr<detail::IndexerCore> core_;
};

}  // namespace kube
