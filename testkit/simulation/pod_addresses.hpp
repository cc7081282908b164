// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/object_key.hpp>

#include <map>
#include <string>

#include "testkit/simulation/cluster_access.hpp"

namespace kube::testkit::detail {

/// Allocates unique addresses of 10.244.0.0/16 to pods; reuses them when the range is exhausted.
/// Not thread-safe.
class PodAddresses {
 public:
  /// Allocates an address for a pod that has none.
  std::string take(const ClusterAccess& cluster, const core::v1::Pod& pod);

 private:
  [[nodiscard]] bool is_taken(const ClusterAccess& cluster, const std::string& address) const;

  bool filled_ = false;
  /// The last pod of each address; it may be deleted.
  std::map<std::string, ObjectKey> holders_;
};

}  // namespace kube::testkit::detail
