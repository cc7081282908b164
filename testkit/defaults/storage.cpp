// SPDX-License-Identifier: Apache-2.0
// Defaults of storage.k8s.io.
#include <array>
#include <utility>

#include "testkit/defaults/builtin_defaults.hpp"
#include "testkit/defaults/pods.hpp"
#include "testkit/defaults/value_defaults.hpp"

namespace kube::testkit::detail {

namespace {

void default_storage_classes(const Resource&, Value& object) {
  fill(object, "reclaimPolicy", "Delete");
  fill(object, "volumeBindingMode", "Immediate");
}

void default_csi_drivers(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    fill(spec, "attachRequired", true);
    for (const char* no :
         {"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"}) {
      fill(spec, no, false);
    }
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if (std::as_const(spec)["volumeLifecycleModes"].size() == 0) {
      spec["volumeLifecycleModes"] = Value::array({"Persistent"});
    }
  });
}

void default_volume_attachments(const Resource&, Value& object) {
  within(object, "spec", [](Value& spec) {
    within(spec, "source", [](Value& source) {
      within(source, "inlineVolumeSpec", [](Value& volume) { default_volume_source(volume); });
    });
  });
}

constexpr std::array kStorage{
    KindDefaults{"storageclasses.storage.k8s.io", default_storage_classes},
    KindDefaults{"csidrivers.storage.k8s.io", default_csi_drivers},
    KindDefaults{"volumeattachments.storage.k8s.io", default_volume_attachments}};

}  // namespace

std::span<const KindDefaults> storage_defaults() { return kStorage; }

}  // namespace kube::testkit::detail
