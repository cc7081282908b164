// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/label_selector.hpp>
#include <kube/api/owner_references.hpp>

#include <string_view>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/controller.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

/// Returns the objects that `owner` controls.
template <typename T, typename Owner>
[[nodiscard]] std::vector<Ref<T>> owned_by(const ClusterAccess& cluster, const Owner& owner) {
  std::vector<Ref<T>> objects = cluster.list<T>(owner.metadata.namespace_.view());
  std::erase_if(objects, [&](const Ref<T>& one) { return !is_controlled_by(*one, owner); });
  return objects;
}

/// Returns the objects that `owner` controls, after it has adopted orphans that `selector` matches
/// and released objects that it no longer matches. An owner that is being deleted does neither.
template <typename T, typename Owner>
std::vector<Ref<T>> claim(ClusterAccess& cluster, const Owner& owner,
                          const labels::Selector& selector) {
  std::vector<Ref<T>> claimed;
  for (Ref<T>& object : cluster.list<T>(owner.metadata.namespace_.view())) {
    const bool matches = selector.matches(object->metadata.labels);
    const bool owned = is_controlled_by(*object, owner);
    if (!owned && (controller_of(object->metadata) != nullptr || !matches)) continue;
    if (owned == matches) {
      claimed.push_back(std::move(object));
    } else if (!is_deleting(owner) && !is_deleting(*object)) {
      T changed = *object;
      if (matches) {
        set_controller_reference(owner, changed);
        claimed.push_back(cluster.update(changed));
      } else {
        changed.metadata.owner_references.erase_if(
            [&](const auto& reference) { return reference.uid == owner.metadata.uid; });
        cluster.update(changed);
      }
    } else if (owned) {
      claimed.push_back(std::move(object));
    }
  }
  return claimed;
}

/// Enqueues the object itself.
template <typename T>
void enqueue_object(const T& object, const Enqueue& enqueue) {
  enqueue(key_of(object));
}

/// Enqueues the controller of `object` if it is of type Owner. An orphan enqueues all owners of its
/// namespace whose selector matches it, because one of them may adopt it.
template <typename Owner, typename T>
void enqueue_controller(const ClusterAccess& cluster, const T& object, const Enqueue& enqueue) {
  const std::string namespace_ = object.metadata.namespace_.str();
  if (const auto* owner = controller_of(object.metadata)) {
    if (owner->kind == Owner::kube_resource.kind &&
        owner->api_version == Owner::kube_resource.api_version()) {
      enqueue({namespace_, owner->name.str()});
    }
    return;
  }
  if (is_deleting(object)) return;
  for (const Ref<Owner>& owner : cluster.list<Owner>(namespace_)) {
    if (to_selector(owner->spec.selector).matches(object.metadata.labels)) {
      enqueue(key_of(*owner));
    }
  }
}

}  // namespace kube::testkit::detail
