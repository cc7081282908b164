// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Runs stateful sets: pods with ordinals and their own claims, created, updated and deleted in
/// order.
class StatefulSetController final : public SimulatedController {
 public:
  explicit StatefulSetController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  class Run;
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
