// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/batch/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Runs jobs: creates pods until enough have succeeded or too many have failed, and deletes the job
/// when ttlSecondsAfterFinished has expired.
///
/// A pod is counted exactly once: it keeps the finalizer `batch.kubernetes.io/job-tracking` until
/// its UID is in the status as an uncounted pod, and is counted when the finalizer is removed.
class JobController final : public SimulatedController {
 public:
  explicit JobController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  class Run;
  /// Removes the finalizers from the pods of a deleted job.
  void release_orphans(const ObjectKey& key);
  RetryAfter expire(const batch::v1::Job& job);

  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
