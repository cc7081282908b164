// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/storage/v1.hpp>

#include <algorithm>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;
using storage::v1::StorageClass;

constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kProvisioner = "volume.kubernetes.io/storage-provisioner";
constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

template <typename T>
bool remove_finalizer(ClusterAccess& cluster, const T& object, std::string_view finalizer) {
  T changed = object;
  if (changed.metadata.finalizers.erase_if([&](const String& one) { return one == finalizer; }) ==
      0) {
    return false;
  }
  cluster.update(changed);
  return true;
}

Quantity storage_of(const Map<Quantity>& quantities) {
  const Quantity* storage = quantities.find("storage");
  return storage != nullptr ? *storage : Quantity{"0"};
}

std::string_view mode_of(const OptionalString& mode) { return mode.value_or("Filesystem"); }

bool is_reserved_for(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->namespace_ == claim.metadata.namespace_ &&
         reference->name == claim.metadata.name &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

/// Returns whether the claim can use the volume, which is free or reserved for it.
bool fits(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  if (is_deleting(volume)) return false;
  if (volume.spec.claim_ref && !is_reserved_for(volume, claim)) return false;
  const auto has_mode = [&](const String& wanted) {
    return std::ranges::find(volume.spec.access_modes, wanted) != volume.spec.access_modes.end();
  };
  return volume.spec.storage_class_name == claim.spec.storage_class_name.value_or("") &&
         mode_of(volume.spec.volume_mode) == mode_of(claim.spec.volume_mode) &&
         storage_of(volume.spec.capacity) >= storage_of(claim.spec.resources.requests) &&
         std::ranges::all_of(claim.spec.access_modes, has_mode) &&
         (!claim.spec.selector || to_selector(claim.spec.selector).matches(volume.metadata.labels));
}

bool uses(const Pod& pod, const PersistentVolumeClaim& claim) {
  return !is_finished(pod) && std::ranges::any_of(pod.spec.volumes, [&](const auto& volume) {
    return volume.persistent_volume_claim &&
           volume.persistent_volume_claim->claim_name == claim.metadata.name;
  });
}

/// Binds each claim to the smallest volume that fits, or to a newly provisioned one if its class
/// has a provisioner.
class ClaimController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<PersistentVolumeClaim>(),
            ClusterAccess::resource<PersistentVolume>(), ClusterAccess::resource<StorageClass>(),
            ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<PersistentVolumeClaim> claim = object.as<PersistentVolumeClaim>()) {
      enqueue_object(*claim, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      // A deleted claim may be waiting for the end of this pod.
      for (const auto& volume : pod->spec.volumes) {
        if (volume.persistent_volume_claim) {
          enqueue(
              {pod->metadata.namespace_.str(), volume.persistent_volume_claim->claim_name.str()});
        }
      }
    } else {
      for (const auto& one : cluster_.list<PersistentVolumeClaim>()) {
        if (one->status.phase != "Bound" || object.as<PersistentVolume>()) {
          enqueue_object(*one, enqueue);
        }
      }
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const auto claim = cluster_.find<PersistentVolumeClaim>(key.namespace_, key.name);
    if (!claim) return std::nullopt;
    if (is_deleting(*claim)) {
      release(*claim);
    } else if (claim->status.phase == "Bound") {
      check_bound(*claim);
    } else if (Ref<PersistentVolume> volume = find_volume(*claim)) {
      bind(*claim, *volume);
    } else if (claim->spec.volume_name.empty()) {
      if (Ref<PersistentVolume> made = provision(*claim)) {
        bind(*cluster_.find<PersistentVolumeClaim>(key.namespace_, key.name), *made);
      }
    }
    return std::nullopt;
  }

 private:
  /// Removes the finalizer of a deleted claim once no pod uses it.
  void release(const PersistentVolumeClaim& claim) {
    for (const Ref<Pod>& pod : cluster_.list<Pod>(claim.metadata.namespace_.view())) {
      if (uses(*pod, claim)) return;
    }
    remove_finalizer(cluster_, claim, kClaimProtection);
  }

  void check_bound(const PersistentVolumeClaim& claim) {
    if (cluster_.find<PersistentVolume>("", claim.spec.volume_name.view())) return;
    PersistentVolumeClaim lost = claim;
    lost.status.phase = "Lost";
    lost.status.access_modes.reset();
    lost.status.capacity.reset();
    cluster_.update_status(lost);
  }

  /// Returns the volume for the claim, or null if there is none yet.
  [[nodiscard]] Ref<PersistentVolume> find_volume(const PersistentVolumeClaim& claim) const {
    if (!claim.spec.volume_name.empty()) {
      Ref<PersistentVolume> named =
          cluster_.find<PersistentVolume>("", claim.spec.volume_name.view());
      if (!named || (named->spec.claim_ref && !is_reserved_for(*named, claim))) return nullptr;
      return named;
    }
    Ref<PersistentVolume> best;
    for (const Ref<PersistentVolume>& volume : cluster_.list<PersistentVolume>()) {
      if (!fits(*volume, claim)) continue;
      if (is_reserved_for(*volume, claim)) return volume;
      if (!best || storage_of(volume->spec.capacity) < storage_of(best->spec.capacity)) {
        best = volume;
      }
    }
    const auto storage_class =
        cluster_.find<StorageClass>("", claim.spec.storage_class_name.value_or(""));
    const bool waits = storage_class &&
                       storage_class->volume_binding_mode.value_or("") == "WaitForFirstConsumer" &&
                       !claim.metadata.annotations.contains(kSelectedNode);
    return waits ? nullptr : best;
  }

  Ref<PersistentVolume> provision(const PersistentVolumeClaim& claim) {
    const auto storage_class =
        cluster_.find<StorageClass>("", claim.spec.storage_class_name.value_or(""));
    if (!storage_class || storage_class->provisioner.empty() ||
        storage_class->provisioner == kNoProvisioner) {
      return nullptr;
    }
    if (storage_class->volume_binding_mode.value_or("") == "WaitForFirstConsumer" &&
        !claim.metadata.annotations.contains(kSelectedNode)) {
      return nullptr;
    }
    const std::string name = "pvc-" + claim.metadata.uid.str();
    if (Ref<PersistentVolume> made = cluster_.find<PersistentVolume>("", name)) return made;
    PersistentVolumeClaim chosen = claim;
    chosen.metadata.annotations[kProvisioner] = storage_class->provisioner;
    chosen = *cluster_.update(chosen);
    PersistentVolume volume;
    volume.metadata.name = name;
    volume.metadata.annotations[kProvisionedBy] = storage_class->provisioner;
    volume.spec.capacity["storage"] = storage_of(claim.spec.resources.requests);
    volume.spec.access_modes = claim.spec.access_modes;
    volume.spec.persistent_volume_reclaim_policy = storage_class->reclaim_policy.value_or("Delete");
    volume.spec.storage_class_name = storage_class->metadata.name;
    volume.spec.volume_mode = mode_of(claim.spec.volume_mode);
    volume.spec.mount_options = storage_class->mount_options;
    auto& source = volume.spec.host_path.emplace();
    source.path = "/var/lib/kubecxx-simulation/" + name;
    source.type = "DirectoryOrCreate";
    auto& reference = volume.spec.claim_ref.emplace();
    reference.api_version = "v1";
    reference.kind = "PersistentVolumeClaim";
    reference.namespace_ = claim.metadata.namespace_;
    reference.name = claim.metadata.name;
    reference.uid = claim.metadata.uid;
    return cluster_.create(volume);
  }

  void bind(const PersistentVolumeClaim& claim, PersistentVolume volume) {
    if (!volume.spec.claim_ref || volume.spec.claim_ref->uid != claim.metadata.uid) {
      if (!volume.spec.claim_ref) volume.metadata.annotations[kBoundByController] = "yes";
      auto& reference = volume.spec.claim_ref.ensure();
      reference.api_version = "v1";
      reference.kind = "PersistentVolumeClaim";
      reference.namespace_ = claim.metadata.namespace_;
      reference.name = claim.metadata.name;
      reference.uid = claim.metadata.uid;
      volume = *cluster_.update(volume);
    }
    if (volume.status.phase != "Bound") {
      volume.status.phase = "Bound";
      volume.status.last_phase_transition_time = cluster_.now();
      cluster_.update_status(volume);
    }
    PersistentVolumeClaim bound = claim;
    bound.metadata.annotations[kBindCompleted] = "yes";
    if (bound.spec.volume_name.empty()) {
      bound.metadata.annotations[kBoundByController] = "yes";
      bound.spec.volume_name = volume.metadata.name;
    }
    bound = *cluster_.update(bound);
    bound.status.phase = "Bound";
    bound.status.access_modes = volume.spec.access_modes;
    bound.status.capacity = volume.spec.capacity;
    cluster_.update_status(bound);
  }
};

/// Maintains the phase of volumes, and reclaims those whose claim is deleted.
class VolumeController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<PersistentVolume>(),
            ClusterAccess::resource<PersistentVolumeClaim>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<PersistentVolume> volume = object.as<PersistentVolume>()) {
      enqueue_object(*volume, enqueue);
    } else if (const auto claim = object.as<PersistentVolumeClaim>()) {
      if (!claim->spec.volume_name.empty()) enqueue({"", claim->spec.volume_name.str()});
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<PersistentVolume> found = cluster_.find<PersistentVolume>("", key.name);
    if (!found) return std::nullopt;
    const auto& reference = found->spec.claim_ref;
    Ref<PersistentVolumeClaim> claim;
    if (reference) {
      claim =
          cluster_.find<PersistentVolumeClaim>(reference->namespace_.view(),
                                               reference->name.view());
    }
    const bool bound = claim && claim->metadata.uid == reference->uid;
    if (is_deleting(*found)) {
      if (!bound) remove_finalizer(cluster_, *found, kVolumeProtection);
      return std::nullopt;
    }
    // A claimRef without UID reserves the volume for a future claim.
    const bool free = !reference || reference->uid.empty();
    if (!free && !bound && found->spec.persistent_volume_reclaim_policy == "Delete" &&
        found->metadata.annotations.contains(kProvisionedBy)) {
      cluster_.remove(*found);
      return std::nullopt;
    }
    const std::string_view phase = free ? "Available" : bound ? "Bound" : "Released";
    if (found->status.phase == phase) return std::nullopt;
    PersistentVolume volume = *found;
    volume.status.phase = phase;
    volume.status.last_phase_transition_time = cluster_.now();
    cluster_.update_status(volume);
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_claim_controller(ClusterAccess cluster) {
  return std::make_unique<ClaimController>(std::move(cluster));
}

std::unique_ptr<SimulatedController> make_volume_controller(ClusterAccess cluster) {
  return std::make_unique<VolumeController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
