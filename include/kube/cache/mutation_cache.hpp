// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/cache/indexer.hpp>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {

/// Settings of a MutationCache. Any field may be left out.
struct MutationCacheOptions {
  /// Maximum time for which an own write is returned.
  Clock::Duration ttl = std::chrono::minutes{5};
  /// Maximum number of own writes kept; the least recently used one is evicted first.
  std::size_t max_entries = 100;
  /// Also returns own writes of objects that the store does not have (yet).
  bool include_adds = false;
  /// Measures `ttl`. Must outlive the cache.
  Clock* clock = &system_clock();
};

namespace detail {

/// The type-erased overlay behind MutationCache.
class MutationCacheCore {
 public:
  MutationCacheCore(std::shared_ptr<IndexerCore> store, MutationCacheOptions options);

  void mutation(const ObjectRef& object);
  void on_add_or_update(const ObjectRef& object);
  void on_delete(const ObjectRef& object);
  [[nodiscard]] ObjectRef find(const std::string& key);
  [[nodiscard]] std::vector<ObjectRef> by_index(std::string_view index, std::string_view value);

 private:
  struct Entry {
    std::string key;
    ObjectRef object;
    bool deleted = false;  ///< tombstone of a deletion: never returned, and refuses older writes
    Clock::TimePoint until{};
  };
  using Entries = std::list<Entry>;  // most recently used first

  [[nodiscard]] Entry* find_locked(const std::string& key);
  void put_locked(std::string key, const ObjectRef& object, bool deleted);
  void erase_locked(const std::string& key);
  [[nodiscard]] ObjectRef newer_locked(const std::string& key, ObjectRef stored);
  [[nodiscard]] bool same_or_not_newer(const ObjectRef& object, const ObjectRef& than) const;
  [[nodiscard]] bool not_newer(const ObjectRef& object, const ObjectRef& than) const;

  const ObjectAccess& access_;
  const std::shared_ptr<IndexerCore> store_;
  const MutationCacheOptions options_;
  std::mutex mutex_;
  // Guarded by mutex_:
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_key_;
};

}  // namespace detail

/// A store with the program's own writes on top, until the store has caught up, so that a
/// controller does not act again on a state that it has just changed. Versions must be numbers.
///
/// Thread safety: any method from any thread.
template <typename T>
class MutationCache {
 public:
  /// `store` is the cache of the informer whose handler calls on_add_or_update() and on_delete().
  explicit MutationCache(const IndexerView<T>& store, MutationCacheOptions options = {})
      : core_(detail::Inside::core(store), options) {}

  /// Records the object returned by a write. Throws std::invalid_argument if its version is not a
  /// number.
  void mutation(const Ref<T>& object) { core_.mutation(detail::ObjectRef::from(object)); }
  /// To be called by a handler of the informer that fills the store: drops own writes that have
  /// arrived.
  void on_add_or_update(const Ref<T>& object) {
    core_.on_add_or_update(detail::ObjectRef::from(object));
  }
  /// To be called by the same handler: remembers the deletion, so that an older own write does not
  /// bring the object back.
  void on_delete(const Ref<T>& last) { core_.on_delete(detail::ObjectRef::from(last)); }

  /// Returns the newer of the stored object and the own write, or null.
  [[nodiscard]] Ref<T> find(const std::string& key) { return core_.find(key).template to<T>(); }
  /// Returns the objects of an index, own writes included. Throws std::out_of_range if there is no
  /// such index.
  [[nodiscard]] std::vector<Ref<T>> by_index(std::string_view index, std::string_view value) {
    std::vector<Ref<T>> found;
    for (const detail::ObjectRef& object : core_.by_index(index, value)) {
      found.push_back(object.template to<T>());
    }
    return found;
  }

 private:
  detail::MutationCacheCore core_;
};

}  // namespace kube
