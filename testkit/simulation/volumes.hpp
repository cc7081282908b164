// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/core/v1.hpp>

#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"

namespace kube::testkit::detail {

/// Binds claims to volumes: to the smallest one that fits, or to one made for the claim if its class has a provisioner.
class ClaimController final : public SimulatedController {
 public:
  explicit ClaimController(ClusterAccess cluster) : cluster_(std::move(cluster)) {}

  [[nodiscard]] std::vector<GroupResource> watched() const override;
  void on_change(const GroupResource& resource, const StoredObject& object,
                 const Enqueue& enqueue) const override;
  RetryAfter sync(const ObjectKey& key) override;

 private:
  /// Lets a deleted claim go once no pod uses it.
  void release(const core::v1::PersistentVolumeClaim& claim);
  void check_bound(const core::v1::PersistentVolumeClaim& claim);
  /// The volume for the claim; null if there is none, or none yet.
  [[nodiscard]] Ref<core::v1::PersistentVolume> find_volume(
      const core::v1::PersistentVolumeClaim& claim) const;
  Ref<core::v1::PersistentVolume> provision(const core::v1::PersistentVolumeClaim& claim);
  void bind(const core::v1::PersistentVolumeClaim& claim, core::v1::PersistentVolume volume);

  ClusterAccess cluster_;
};

/// Keeps the phase of volumes, and reclaims those whose claim is gone.
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
