// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/cache/indexer_core.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {

/// Says under which values an index files an object: none, one or many. Must depend on the object only, and
/// may be called from any thread.
template <typename T>
using IndexFunction = std::function<std::vector<std::string>(const T& object)>;
/// Index functions by name.
template <typename T>
using Indexers = std::map<std::string, IndexFunction<T>>;

/// All objects of an Indexer at one moment. It never changes, costs one reference, and keeps what it shows
/// for as long as it lives; so do not keep it for long.
///
/// Order is unspecified everywhere, except where it is said.
/// Thread safety: any method from any thread.
template <typename T>
class Snapshot {
 public:
  explicit Snapshot(detail::StoreSnapshot core) : core_(std::move(core)) {}

  [[nodiscard]] std::size_t size() const noexcept { return core_.size(); }
  /// The state of the server that this is; empty before the first list.
  [[nodiscard]] const std::string& resource_version() const noexcept {
    return core_.resource_version();
  }
  /// The object, or null.
  [[nodiscard]] Ref<T> find(std::string_view space, std::string_view name) const {
    return core_.find(space, name).template to<T>();
  }
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return find(key.namespace_, key.name); }
  /// By "namespace/name" or "name", as events and queues have it. Any text is taken, but nothing in braces:
  /// `find({"default", "web-0"})` is an ObjectKey.
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    const auto parts = detail::KeyParts::of(key);
    return find(parts.namespace_, parts.name);
  }
  [[nodiscard]] std::vector<Ref<T>> list() const {
    std::vector<Ref<T>> found;
    found.reserve(size());
    core_.for_each(collect(found));
    return found;
  }
  /// Objects of a namespace (empty: of all) that `selector` matches. Looks at the label index first.
  [[nodiscard]] std::vector<Ref<T>> list(std::string_view space,
                                         const labels::Selector& selector = {}) const {
    std::vector<Ref<T>> found;
    core_.select(space, selector, collect(found));
    return found;
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> found;
    core_.for_each(collect_keys(found));
    return found;
  }
  /// Calls `see(const T&)` for each object; none is copied or counted.
  template <typename See>
  void for_each(See see) const {
    core_.for_each([&](const detail::ObjectRef& object) {
      see(object.template as<T>());
      return true;
    });
  }
  /// The same for those in a namespace (empty: in all) that `selector` matches.
  template <typename See>
  void for_each(std::string_view space, const labels::Selector& selector, See see) const {
    core_.select(space, selector, [&](const detail::ObjectRef& object) {
      see(object.template as<T>());
      return true;
    });
  }
  /// Objects that index `name` files under `value`. Throws std::out_of_range if there is no such index.
  [[nodiscard]] std::vector<Ref<T>> by_index(std::string_view name, std::string_view value) const {
    std::vector<Ref<T>> found;
    core_.by_index(name, value, collect(found));
    return found;
  }
  /// Their keys, ascending.
  [[nodiscard]] std::vector<std::string> index_keys(std::string_view name,
                                                    std::string_view value) const {
    std::vector<std::string> found;
    core_.by_index(name, value, collect_keys(found));
    std::sort(found.begin(), found.end());
    return found;
  }
  /// Objects that the index files under any of `values`, each once.
  [[nodiscard]] std::vector<Ref<T>> by_any(std::string_view name,
                                           const std::vector<std::string>& values) const {
    std::vector<Ref<T>> found;
    core_.by_any(name, values, collect(found));
    return found;
  }
  /// The values under which an index has objects now, ascending; none if there is no such index.
  [[nodiscard]] std::vector<std::string> index_values(std::string_view name) const {
    return core_.index_values(name);
  }
  [[nodiscard]] std::vector<std::string> index_names() const { return core_.index_names(); }
  /// Heap memory of the store itself, without the objects.
  [[nodiscard]] std::size_t overhead_bytes() const noexcept { return core_.overhead_bytes(); }

 private:
  static detail::StoreSnapshot::See collect(std::vector<Ref<T>>& found) {
    return [&found](const detail::ObjectRef& object) {
      found.push_back(object.template to<T>());
      return true;
    };
  }
  static detail::StoreSnapshot::See collect_keys(std::vector<std::string>& found) {
    return [&found](const detail::ObjectRef& object) {
      found.push_back(detail::kObjectAccess<T>.key(object.get()));
      return true;
    };
  }

  detail::StoreSnapshot core_;
};

/// An in-memory set of objects, found by key, through named indexes, or by their labels. There is always an
/// index of namespaces.
///
/// Readers never wait for a writer, nor a writer for readers: each query is answered from one state of the
/// set, and two queries may see two. Take a snapshot() to ask several questions of one.
/// Thread safety: any method from any thread.
/// Ownership: objects are shared and immutable; a Ref outlives the object's stay in the set.
template <typename T>
class Indexer {
 public:
  explicit Indexer(const Indexers<T>& indexers = {}, IndexerOptions options = {})
      : core_(std::make_shared<detail::IndexerCore>(detail::kObjectAccess<T>, std::move(options))) {
    Indexers<T> own = indexers;
    own.erase(std::string{kNamespaceIndex});
    add_indexers(own);
  }
  /// A view of the store of an informer.
  explicit Indexer(std::shared_ptr<detail::IndexerCore> core) : core_(std::move(core)) {}

  [[nodiscard]] Snapshot<T> snapshot() const { return Snapshot<T>{core_->snapshot()}; }

  // Each of these asks the newest snapshot; see there.
  [[nodiscard]] std::size_t size() const { return snapshot().size(); }
  [[nodiscard]] std::string resource_version() const { return snapshot().resource_version(); }
  [[nodiscard]] Ref<T> find(const ObjectKey& key) const { return find(key.namespace_, key.name); }
  template <std::convertible_to<std::string_view> Key>
  [[nodiscard]] Ref<T> find(const Key& key) const {
    const auto parts = detail::KeyParts::of(key);
    return find(parts.namespace_, parts.name);
  }
  [[nodiscard]] Ref<T> find(std::string_view space, std::string_view name) const {
    return core_->find(space, name).template to<T>();
  }
  [[nodiscard]] std::vector<Ref<T>> list() const { return snapshot().list(); }
  [[nodiscard]] std::vector<Ref<T>> list(std::string_view space,
                                         const labels::Selector& selector = {}) const {
    return snapshot().list(space, selector);
  }
  [[nodiscard]] std::vector<std::string> keys() const { return snapshot().keys(); }
  [[nodiscard]] std::vector<Ref<T>> by_index(std::string_view name, std::string_view value) const {
    return snapshot().by_index(name, value);
  }
  [[nodiscard]] std::vector<std::string> index_keys(std::string_view name,
                                                    std::string_view value) const {
    return snapshot().index_keys(name, value);
  }
  [[nodiscard]] std::vector<std::string> index_values(std::string_view name) const {
    return snapshot().index_values(name);
  }
  [[nodiscard]] std::vector<std::string> index_names() const { return snapshot().index_names(); }
  /// Objects that share a value of the index with `example`, which need not be stored. Throws what the
  /// index function throws, and std::out_of_range if there is no such index.
  [[nodiscard]] std::vector<Ref<T>> index(std::string_view name, const T& example) const {
    return snapshot().by_any(name, core_->index_values_of(name, &example));
  }

  /// Stores `object` in place of the one with its key. Throws KeyError if it has no name.
  void upsert(const Ref<T>& object) { write({.object = detail::ObjectRef::from(object)}); }
  /// Removes the object with the key of `last`, whose version becomes that of the store.
  void erase(const Ref<T>& last) {
    write({.object = detail::ObjectRef::from(last), .erase = true});
  }
  void erase(const ObjectKey& key) { write({.erase = true, .key = key.str()}); }
  /// Swaps the whole content; a reader sees the old set or the new one. Objects of a version that is stored
  /// already stay. Throws KeyError if an object has no name; all others are stored nevertheless.
  void replace(const std::vector<Ref<T>>& objects, std::string_view resource_version) {
    std::vector<detail::ObjectRef> content;
    for (const Ref<T>& object : objects) content.push_back(detail::ObjectRef::from(object));
    std::vector<detail::StoreResult> results;
    std::vector<detail::ObjectRef> removed;
    core_->replace(content, resource_version, results, removed);
    for (const detail::StoreResult& result : results) check(result);
  }
  /// Adds indexes; those who ask for them afterwards find all objects. Throws std::invalid_argument, with
  /// nothing added, if one exists already.
  void add_indexers(const Indexers<T>& indexers) {
    std::vector<std::pair<std::string, detail::IndexerCore::IndexFunction>> added;
    for (const auto& [name, function] : indexers) {
      added.emplace_back(name, [function = function](const void* object) {
        return function(*static_cast<const T*>(object));
      });
    }
    core_->add_indexes(added);
  }

  /// Waits until the store has reached `resource_version`, so that one reads what one has written. Returns
  /// false if a stop or the deadline comes first; versions that are not numbers are reached only by equality.
  [[nodiscard]] bool wait_for_version(std::string_view resource_version, std::stop_token stop,
                                      Clock::TimePoint deadline = Clock::TimePoint::max(),
                                      Clock& clock = system_clock()) const {
    return core_->wait_for_version(resource_version, clock, deadline, std::move(stop));
  }
  [[nodiscard]] const std::shared_ptr<detail::IndexerCore>& core() const noexcept { return core_; }

 private:
  static void check(const detail::StoreResult& result) {
    if (!result.error.empty()) throw KeyError(result.error);
  }
  void write(detail::StoreChange change) {
    std::vector<detail::StoreResult> results;
    core_->apply({std::move(change)}, results);
    check(results.front());
  }

  std::shared_ptr<detail::IndexerCore> core_;
};

/// Uses an index function as a key: exactly one value. Throws KeyError if there are none or several.
template <typename T>
[[nodiscard]] std::function<std::string(const T&)> index_to_key(IndexFunction<T> function) {
  return [function = std::move(function)](const T& object) {
    std::vector<std::string> values = function(object);
    if (values.size() == 1) return std::move(values.front());
    throw KeyError(values.empty() ? "the index function gave no value for the key"
                                  : "the index function gave more than one value for the key");
  };
}

}  // namespace kube
