// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <utility>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/endpoint_groups.hpp"

namespace kube::testkit::detail {

/// Maintains the EndpointSlices and the Endpoints of services that have a selector.
class EndpointsController final : public SimulatedController {
 public:
  explicit EndpointsController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  void write_slices(const core::v1::Service& service, const std::vector<EndpointGroup>& groups);
  void write_endpoints(const core::v1::Service& service, const std::vector<EndpointGroup>& groups);

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
