// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <string>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Binds pods to nodes: to the one with the fewest pods among those that fit.
class Scheduler final : public SimulatedController {
 public:
  explicit Scheduler(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// The claims of the pod, and why they hold it back.
  struct Claims {
    std::string problem;
    /// Claims that are bound once a node is chosen.
    std::vector<Ref<core::v1::PersistentVolumeClaim>> waiting;
  };
  [[nodiscard]] Claims claims_of(const core::v1::Pod& pod) const;
  /// The name of the node for the pod; otherwise empty, and `problem` tells why.
  [[nodiscard]] std::string choose_node(const core::v1::Pod& pod, std::string& problem) const;
  void refuse(const core::v1::Pod& pod, const std::string& message);

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
