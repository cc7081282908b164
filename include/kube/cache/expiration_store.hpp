// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/cache/indexer_core.hpp>

#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kube {

/// Objects that expire a fixed time after their last write (client-go: ExpirationCache). Expired
/// objects are removed when they are accessed.
///
/// Thread safety: any method from any thread.
template <typename T>
class ExpirationStore {
 public:
  /// A `ttl` of 0 disables expiry.
  explicit ExpirationStore(Clock::Duration ttl, Clock& clock = system_clock())
      : ttl_(ttl), clock_(clock) {}

  /// Stores `object` and restarts its time to live. Throws KeyError if it has no name.
  void upsert(const Ref<T>& object) {
    std::string key = checked_key(*object);
    const std::lock_guard guard{mutex_};
    entries_[std::move(key)] = {object, clock_.now()};
  }
  void erase(const std::string& key) {
    const std::lock_guard guard{mutex_};
    entries_.erase(key);
  }
  /// Replaces the whole content, and restarts the time to live of each object. Throws KeyError,
  /// with nothing changed, if an object has no name.
  void replace(const std::vector<Ref<T>>& objects) {
    std::unordered_map<std::string, Entry> content;
    for (const Ref<T>& object : objects) content[checked_key(*object)] = {object, clock_.now()};
    const std::lock_guard guard{mutex_};
    entries_.swap(content);
  }
  /// Returns the object, or null if there is none or it has expired.
  [[nodiscard]] Ref<T> find(const std::string& key) {
    const std::lock_guard guard{mutex_};
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    if (!is_expired(found->second)) return found->second.object;
    entries_.erase(found);
    return nullptr;
  }
  /// Returns all objects that have not expired, and removes the others.
  [[nodiscard]] std::vector<Ref<T>> list() {
    const std::lock_guard guard{mutex_};
    std::erase_if(entries_, [&](const auto& entry) { return is_expired(entry.second); });
    std::vector<Ref<T>> objects;
    for (const auto& [key, entry] : entries_) objects.push_back(entry.object);
    return objects;
  }
  /// Returns all keys, possibly including those of expired objects.
  [[nodiscard]] std::vector<std::string> keys() const {
    const std::lock_guard guard{mutex_};
    std::vector<std::string> all;
    for (const auto& [key, entry] : entries_) all.push_back(key);
    return all;
  }

 private:
  struct Entry {
    Ref<T> object;
    Clock::TimePoint written{};
  };
  static std::string checked_key(const T& object) {
    const auto& access = detail::kObjectAccess<T>;
    if (access.name(&object).empty()) throw KeyError("object has no meta: metadata.name is empty");
    return access.key(&object);
  }
  [[nodiscard]] bool is_expired(const Entry& entry) const {
    return ttl_ > Clock::Duration::zero() && clock_.now() - entry.written > ttl_;
  }

  const Clock::Duration ttl_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // guarded by mutex_
};

}  // namespace kube
