// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

namespace kube::detail {

/// A map of limited size that evicts the least recently used entry.
/// Thread safety: used by one thread at a time.
template <typename Key, typename Value>
class LruCache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Returns the value under `key`, or null. Counts as a use.
  [[nodiscard]] Value* find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }
  /// Stores `value` under `key`, replacing the previous value.
  Value& put(const Key& key, Value value) {
    if (Value* found = find(key)) return *found = std::move(value);
    if (entries_.size() >= capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    try {
      index_.emplace(key, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    return entries_.front().second;
  }
  /// Removes the values for which `matches` returns true. It may change the others.
  template <typename Predicate>
  void erase_if(Predicate matches) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (matches(entry->second)) {
        index_.erase(entry->first);
        entry = entries_.erase(entry);
      } else {
        ++entry;
      }
    }
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  const std::size_t capacity_;
  Entries entries_;  // most recently used first
  std::unordered_map<Key, typename Entries::iterator> index_;
};

}  // namespace kube::detail
