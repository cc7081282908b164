// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Creates the node `kubecxx-node` if there is none.
void ensure_node(Engine& engine);

/// Simulates the kubelet's node status and the node lifecycle controller: a node without a
/// condition Ready becomes ready, and taints mark nodes that are cordoned or not ready.
class NodeController final : public SimulatedController {
 public:
  explicit NodeController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
