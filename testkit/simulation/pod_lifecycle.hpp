// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/pod_addresses.hpp"
#include "testkit/simulation/pod_behaviour.hpp"

namespace kube::testkit::detail {

/// Simulates the kubelets: starts the containers of pods that are bound to a node, ends them as
/// configured by their annotations, and completes deletions. It writes the status only when a pod
/// starts, ends or is restarted; otherwise the status is left to clients.
class PodLifecycle final : public SimulatedController {
 public:
  explicit PodLifecycle(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  RetryAfter terminate(const core::v1::Pod& pod);
  RetryAfter start(const core::v1::Pod& pod, const PodBehaviour& behaviour);
  RetryAfter keep_running(const core::v1::Pod& pod, const PodBehaviour& behaviour);
  /// Ends the containers. Those with a restart policy then wait in back-off.
  void end(const core::v1::Pod& pod, const PodBehaviour& behaviour);
  void restart(const core::v1::Pod& pod);
  void report(core::v1::Pod pod);

  ClusterAccess cluster_;
  PodAddresses addresses_;
};

}  // namespace kube::testkit::detail
