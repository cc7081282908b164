// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/apps/v1.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_template.hpp"

namespace kube::testkit::detail {

/// Returns the data of a ControllerRevision: a patch that restores the template.
[[nodiscard]] std::string revision_data(const core::v1::PodTemplateSpec& pod_template);
/// Returns the template stored in a revision. Throws Error if there is none.
[[nodiscard]] core::v1::PodTemplateSpec template_of(const apps::v1::ControllerRevision& revision);

/// The ControllerRevisions of a StatefulSet or a DaemonSet: one per template, numbered in the order
/// of last use.
class RevisionHistory {
 public:
  /// `hash_label` is the label that holds the hash of a revision.
  template <typename Owner>
  RevisionHistory(ClusterAccess& cluster, const Owner& owner, std::string_view hash_label)
      : cluster_(cluster) {
    for (const auto& one : owned_by<apps::v1::ControllerRevision>(cluster_, owner)) {
      revisions_.push_back(*one);
    }
    sort();
    draft_.metadata.namespace_ = owner.metadata.namespace_;
    draft_.metadata.name = owner.metadata.name;
    draft_.metadata.labels = owner.spec.template_.metadata.labels;
    draft_.metadata.annotations = owner.metadata.annotations;
    draft_.metadata.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    set_controller_reference(owner, draft_);
    draft_.data = RawExtension{revision_data(owner.spec.template_)};
    hash_label_ = hash_label;
  }

  /// Returns the revision of the current template. Creates it, or gives it the highest number,
  /// unless it is the latest already. Increments `collisions` on a hash collision with another
  /// template.
  apps::v1::ControllerRevision take_current(std::optional<std::int32_t>& collisions);
  /// Returns the revision of that name, or null.
  [[nodiscard]] const apps::v1::ControllerRevision* find(std::string_view name) const;
  /// Deletes the oldest revisions beyond `limit` whose names are not in `live`.
  void truncate(std::int32_t limit, const std::set<std::string>& live);

 private:
  void sort();

  ClusterAccess& cluster_;
  std::vector<apps::v1::ControllerRevision> revisions_;  ///< sorted by number
  apps::v1::ControllerRevision draft_;
  std::string hash_label_;
};

}  // namespace kube::testkit::detail
