// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/deployment_math.hpp"

namespace kube::testkit::detail {

/// Rolls out deployments: creates a ReplicaSet per template, moves pods from the old sets to the
/// newest one within the bounds of the strategy, and keeps revisions for rollbacks.
class DeploymentController final : public SimulatedController {
 public:
  explicit DeploymentController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  class Rollout;
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
