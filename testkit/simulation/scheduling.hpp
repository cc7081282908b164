// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <string>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Binds each pod to the node with the fewest pods among those that fit.
class Scheduler final : public SimulatedController {
 public:
  explicit Scheduler(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// The claims of a pod, and the reason why they block its scheduling.
  struct Claims {
    std::string problem;
    /// Claims that are bound after a node is chosen.
    std::vector<Ref<core::v1::PersistentVolumeClaim>> waiting;
  };
  [[nodiscard]] Claims claims_of(const core::v1::Pod& pod) const;
  /// Returns the name of the node for the pod. If there is none, returns an empty string and sets
  /// `problem`.
  [[nodiscard]] std::string choose_node(const core::v1::Pod& pod, std::string& problem) const;
  void refuse(const core::v1::Pod& pod, const std::string& message);

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
