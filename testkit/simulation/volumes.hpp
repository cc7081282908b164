// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Binds each claim to the smallest volume that fits, or to a newly provisioned one if its class
/// has a provisioner.
class ClaimController final : public SimulatedController {
 public:
  explicit ClaimController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// Removes the finalizer of a deleted claim once no pod uses it.
  void release(const core::v1::PersistentVolumeClaim& claim);
  void check_bound(const core::v1::PersistentVolumeClaim& claim);
  /// Returns the volume for the claim, or null if there is none yet.
  [[nodiscard]] Ref<core::v1::PersistentVolume> find_volume(
      const core::v1::PersistentVolumeClaim& claim) const;
  Ref<core::v1::PersistentVolume> provision(const core::v1::PersistentVolumeClaim& claim);
  void bind(const core::v1::PersistentVolumeClaim& claim, core::v1::PersistentVolume volume);

  ClusterAccess cluster_;
};

/// Maintains the phase of volumes, and reclaims those whose claim is deleted.
class VolumeController final : public SimulatedController {
 public:
  explicit VolumeController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  ClusterAccess cluster_;
};

}  // namespace kube::testkit::detail
