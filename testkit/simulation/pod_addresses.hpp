// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>
#include <kube/api/object_key.hpp>

#include <map>
#include <string>

#include "testkit/simulation/cluster_access.hpp"

namespace kube::testkit::detail {

/// Gives addresses of 10.244.0.0/16 to pods, no two of which have the same one as long as there are enough.
/// Not thread-safe.
class PodAddresses {
 public:
  /// An address for the pod, which has none yet.
  std::string take(const ClusterAccess& cluster, const core::v1::Pod& pod);

 private:
  [[nodiscard]] bool is_taken(const ClusterAccess& cluster, const std::string& address) const;

  bool filled_ = false;
  /// The pods that have had an address; they may be gone.
  std::map<std::string, ObjectKey> holders_;
};

}  // namespace kube::testkit::detail
