// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/label_selector.hpp>
#include <kube/base/error.hpp>
#include <kube/cache/lister.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace detail {

template <typename Owner>
[[nodiscard]] labels::Selector selector_of(const Owner& owner) {
  try {
    if constexpr (requires { to_selector(owner.spec.selector); }) {
      return to_selector(owner.spec.selector);
    } else {
      return labels::Selector::from_set(owner.spec.selector);  // a ReplicationController
    }
  } catch (const std::invalid_argument&) {
    return labels::Selector::nothing();  // an invalid selector is reported where it was written
  }
}

}  // namespace detail

/// Returns the owners whose selector matches the labels of an object: the ReplicationControllers,
/// ReplicaSets, StatefulSets, DaemonSets, Jobs or PodDisruptionBudgets of a Pod, or the DaemonSets
/// of a ControllerRevision. `Owner` is any type whose spec has a selector; only owners in the
/// namespace of `object` count. An invalid selector matches nothing. So does an empty one, except
/// that of a Job or a PodDisruptionBudget, which matches everything.
///
/// Throws Error if there is no such owner, or if the object has no labels (labels are not required
/// for PodDisruptionBudgets).
template <typename Owner, typename T>
[[nodiscard]] std::vector<Ref<Owner>> selecting(const Lister<Owner>& owners, const T& object) {
  const std::string_view kind = Owner::kube_resource.kind;
  const bool is_budget = kind == "PodDisruptionBudget";
  const auto refuse = [&](std::string_view why) {
    throw Error("no " + std::string{kind} + " selects " + detail::kObjectAccess<T>.key(&object) +
                std::string{why});
  };
  if (object.metadata.labels.empty() && !is_budget) refuse(", which has no labels");
  std::vector<Ref<Owner>> found = owners.in_namespace(object.metadata.namespace_.view()).list();
  std::erase_if(found, [&](const Ref<Owner>& owner) {
    const labels::Selector selector = detail::selector_of(*owner);
    if (selector.matches_everything()) return kind != "Job" && !is_budget;
    return !selector.matches(object.metadata.labels);
  });
  if (found.empty()) refuse("");
  return found;
}

}  // namespace kube
