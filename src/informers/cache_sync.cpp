// SPDX-License-Identifier: Apache-2.0
#include <kube/informers/cache_sync.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kube {

bool CacheSync::all_synced() const noexcept {
  return std::ranges::all_of(informers, &Informer::synced);
}

std::string CacheSync::message() const {
  std::string unsynced;
  for (const Informer& informer : informers) {
    if (informer.synced) continue;
    if (!unsynced.empty()) unsynced += ", ";
    unsynced += informer.type;
    if (!informer.reason.empty()) unsynced += fmt::format(" ({})", informer.reason);
  }
  if (unsynced.empty()) return {};
  return fmt::format("failed to sync all caches: {}: {}", unsynced, cause);
}

void CacheSync::or_throw() const {
  if (!all_synced()) throw CacheSyncError(message());
}

}  // namespace kube
