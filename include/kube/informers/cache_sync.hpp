// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <string>
#include <vector>

namespace kube {

/// Some caches were not filled in time.
class CacheSyncError : public Error {
 public:
  using Error::Error;
};

/// Which caches are filled, and why the others are not.
struct CacheSync {
  struct Informer {
    std::string type;  ///< or resource
    bool synced = false;
    std::string reason = {};  ///< why not: the last error of list or watch, as far as known
  };
  std::vector<Informer> informers = {};  ///< ordered by type
  /// Why the wait ended, if not all are filled: "stopped", "timed out" or "not started".
  std::string cause = {};

  [[nodiscard]] bool all_synced() const noexcept;
  explicit operator bool() const noexcept { return all_synced(); }
  /// "failed to sync all caches: v1 Pod (pods is forbidden), ...: stopped", or empty.
  [[nodiscard]] std::string message() const;
  /// Throws CacheSyncError with that message if there is one.
  void or_throw() const;
};

}  // namespace kube
