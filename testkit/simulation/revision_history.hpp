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

/// What a ControllerRevision keeps of a template: a patch that puts it back.
[[nodiscard]] std::string revision_data(const core::v1::PodTemplateSpec& pod_template);
/// The template that a revision keeps. Throws Error if there is none.
[[nodiscard]] core::v1::PodTemplateSpec template_of(const apps::v1::ControllerRevision& revision);

/// The ControllerRevisions of a StatefulSet or a DaemonSet: one per template, numbered in the order in which they were in use
/// for the last time.
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

  /// The revision of the present template. It is made, or gets the highest number, if it is not the last one already.
  /// `collisions` is counted up if another template has the same hash.
  apps::v1::ControllerRevision take_current(std::optional<std::int32_t>& collisions);
  /// The revision of that name, or null.
  [[nodiscard]] const apps::v1::ControllerRevision* find(std::string_view name) const;
  /// Deletes the oldest revisions beyond `limit` whose names are not in `live`.
  void truncate(std::int32_t limit, const std::set<std::string>& live);

 private:
  void sort();

  ClusterAccess& cluster_;
  std::vector<apps::v1::ControllerRevision> revisions_;  ///< by number
  apps::v1::ControllerRevision draft_;
  std::string hash_label_;
};

}  // namespace kube::testkit::detail
