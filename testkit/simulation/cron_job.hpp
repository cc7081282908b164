// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/batch/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Creates the jobs of cron jobs on schedule, and deletes old ones.
class CronJobController final : public SimulatedController {
 public:
  explicit CronJobController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  class Run;
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
