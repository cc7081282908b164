// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <string>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

/// Maintains the desired number of pods of a ReplicaSet.
class ReplicaSetController final : public SimulatedController {
 public:
  explicit ReplicaSetController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// Creates or deletes pods. Returns the reason if a pod was rejected; else empty.
  std::string manage(const apps::v1::ReplicaSet& set, PodRefs active);
  [[nodiscard]] PodRefs pods_of_siblings(const apps::v1::ReplicaSet& set) const;

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
