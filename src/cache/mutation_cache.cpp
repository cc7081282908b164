// SPDX-License-Identifier: Apache-2.0
#include <kube/cache/mutation_cache.hpp>

#include <kube/cache/resource_version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

namespace kube::detail {

MutationCacheCore::MutationCacheCore(std::shared_ptr<IndexerCore> store,
                                     MutationCacheOptions options)
    : access_(store->access()), store_(std::move(store)), options_(options) {}

bool MutationCacheCore::not_newer(const ObjectRef& object, const ObjectRef& than) const {
  const auto order = compare_resource_versions(access_.resource_version(object.get()),
                                               access_.resource_version(than.get()));
  return order == std::partial_ordering::less || order == std::partial_ordering::equivalent;
}

bool MutationCacheCore::same_or_not_newer(const ObjectRef& object, const ObjectRef& than) const {
  const std::string_view uid = access_.uid(object.get());
  return (!uid.empty() && uid == access_.uid(than.get())) || not_newer(object, than);
}

MutationCacheCore::Entry* MutationCacheCore::find_locked(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  if (options_.clock->now() > found->second->until) {
    erase_locked(key);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

void MutationCacheCore::erase_locked(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  entries_.erase(found->second);
  by_key_.erase(found);
}

void MutationCacheCore::put_locked(std::string key, const ObjectRef& object, bool deleted) {
  erase_locked(key);
  entries_.push_front({key, object, deleted, options_.clock->now() + options_.ttl});
  try {
    by_key_.emplace(std::move(key), entries_.begin());
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  while (entries_.size() > options_.max_entries) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void MutationCacheCore::mutation(const ObjectRef& object) {
  const std::string_view version = access_.resource_version(object.get());
  if (compare_resource_versions(version, "0") == std::partial_ordering::unordered) {
    throw std::invalid_argument(fmt::format("resourceVersion \"{}\" of {} is not a number", version,
                                            access_.key(object.get())));
  }
  const std::lock_guard guard{mutex_};
  std::string key = access_.key(object.get());
  if (const Entry* entry = find_locked(key);
      entry != nullptr && entry->deleted && same_or_not_newer(object, entry->object)) {
    return;
  }
  put_locked(std::move(key), object, false);
}

void MutationCacheCore::on_add_or_update(const ObjectRef& object) {
  const std::lock_guard guard{mutex_};
  const std::string key = access_.key(object.get());
  if (const Entry* entry = find_locked(key); entry != nullptr && not_newer(entry->object, object)) {
    erase_locked(key);
  }
}

void MutationCacheCore::on_delete(const ObjectRef& object) {
  const std::lock_guard guard{mutex_};
  std::string key = access_.key(object.get());
  if (const Entry* entry = find_locked(key);
      entry != nullptr && !same_or_not_newer(entry->object, object)) {
    return;  // a deletion of an older object of that name
  }
  put_locked(std::move(key), object, true);
}

/// Returns the object to show for a key: the own write, or `stored` (may be null) if that is newer.
ObjectRef MutationCacheCore::newer_locked(const std::string& key, ObjectRef stored) {
  const Entry* entry = find_locked(key);
  if (entry == nullptr || entry->deleted) return stored;
  if (!stored) return options_.include_adds ? entry->object : ObjectRef{};
  if (!not_newer(entry->object, stored)) return entry->object;
  erase_locked(key);
  return stored;
}

ObjectRef MutationCacheCore::find(const std::string& key) {
  const KeyParts parts = KeyParts::of(key);
  ObjectRef stored = store_->snapshot().find(parts.namespace_, parts.name);
  const std::lock_guard guard{mutex_};
  return newer_locked(key, std::move(stored));
}

std::vector<ObjectRef> MutationCacheCore::by_index(std::string_view index, std::string_view value) {
  const StoreSnapshot snapshot = store_->snapshot();
  std::vector<ObjectRef> stored;
  snapshot.by_index(index, value, [&](const ObjectRef& object) {
    stored.push_back(object);
    return true;
  });
  std::vector<ObjectRef> found;
  std::vector<ObjectRef> added;
  {
    const std::lock_guard guard{mutex_};
    std::unordered_set<std::string> seen;
    for (ObjectRef& object : stored) {
      const std::string key = access_.key(object.get());
      seen.insert(key);
      found.push_back(newer_locked(key, std::move(object)));
    }
    if (options_.include_adds) {
      for (const Entry& entry : entries_) {
        if (!entry.deleted && options_.clock->now() <= entry.until && !seen.contains(entry.key)) {
          added.push_back(entry.object);
        }
      }
    }
  }
  for (ObjectRef& object : added) {
    const std::vector<std::string> values = store_->index_values_of(index, object.get());
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      found.push_back(std::move(object));
    }
  }
  return found;
}

}  // namespace kube::detail
