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

/// How a MutationCache works. Any field may be left out.
struct MutationCacheOptions {
  /// How long an own write is shown at most.
  Clock::Duration ttl = std::chrono::minutes{5};
  /// Own writes that are remembered; the one that was used least recently goes first.
  std::size_t max_entries = 100;
  /// Show own writes of objects that the store does not have (yet).
  bool include_adds = false;
  Clock* clock = &system_clock();
};

namespace detail {

/// The overlay behind MutationCache.
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
    bool deleted = false;  ///< stands for a deletion: is never shown, and refuses older writes
    Clock::TimePoint until{};
  };
  using Entries = std::list<Entry>;  // the most recently used one first

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

/// Shows a store with one's own writes on top, until the store has caught up: so that a controller does not act
/// again on a state that it has just changed. Versions must be numbers.
///
/// Thread safety: any method from any thread.
template <typename T>
class MutationCache {
 public:
  explicit MutationCache(const IndexerView<T>& store, MutationCacheOptions options = {})
      : core_(detail::Inside::core(store), options) {}

  /// Notes what a write returned. Throws std::invalid_argument if its version is no number.
  void mutation(const Ref<T>& object) { core_.mutation(detail::ObjectRef::from(object)); }
  /// For the handler of the informer that fills the store: lets go of what has arrived.
  void on_add_or_update(const Ref<T>& object) {
    core_.on_add_or_update(detail::ObjectRef::from(object));
  }
  void on_delete(const Ref<T>& last) { core_.on_delete(detail::ObjectRef::from(last)); }

  /// The newer of what the store has and what was written, or null.
  [[nodiscard]] Ref<T> find(const std::string& key) { return core_.find(key).template to<T>(); }
  /// Throws std::out_of_range if there is no such index.
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
