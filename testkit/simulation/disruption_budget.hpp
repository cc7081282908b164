// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/policy/v1.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

/// Maintains the status of PodDisruptionBudgets, which decides whether pods may be evicted.
class DisruptionBudgetController final : public SimulatedController {
 public:
  explicit DisruptionBudgetController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// Number of pods that should exist, and how many of them have to be healthy.
  struct Demand {
    std::int64_t expected = 0;
    std::int64_t healthy = 0;
  };

  /// Throws std::runtime_error with the reason if it cannot be computed.
  [[nodiscard]] Demand demand_of(const policy::v1::PodDisruptionBudget& budget,
                                 const PodRefs& pods) const;
  /// Returns the sum of the replicas of all controllers of the pods.
  [[nodiscard]] std::int64_t expected_scale(const PodRefs& pods) const;
  /// Returns the replicas of the controller, by its `scale` subresource; nothing if it is gone.
  [[nodiscard]] std::optional<std::int64_t> scale_of(const meta::v1::OwnerReference& controller,
                                                     std::string_view namespace_) const;

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
