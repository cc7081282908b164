// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <string>
#include <vector>

namespace kube {

/// Thrown when some caches have not synced in time.
class CacheSyncError : public Error {
 public:
  using Error::Error;
};

/// Which caches have synced, and why the others have not.
struct CacheSync {
  /// The state of one informer.
  struct Informer {
    std::string type;  ///< or resource
    bool synced = false;
    std::string reason = {};  ///< why not: the last error of list or watch, if known
  };
  std::vector<Informer> informers = {};  ///< ordered by type
  /// Why the wait ended, if not all have synced: "stopped", "timed out" or "not started".
  std::string cause = {};

  /// True if every cache has synced.
  [[nodiscard]] bool all_synced() const noexcept;
  /// Same as all_synced().
  explicit operator bool() const noexcept { return all_synced(); }
  /// Returns "failed to sync all caches: v1 Pod (pods is forbidden), ...: stopped", or empty.
  [[nodiscard]] std::string message() const;
  /// Throws CacheSyncError with that message unless all have synced.
  void or_throw() const;
};

}  // namespace kube
