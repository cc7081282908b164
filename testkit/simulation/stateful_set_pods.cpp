// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/stateful_set_pods.hpp"

#include <fmt/format.h>

#include <charconv>

#include "testkit/simulation/pod_template.hpp"

namespace kube::testkit::detail {

using apps::v1::StatefulSet;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;

namespace {

std::string claim_name(const StatefulSet& set, const PersistentVolumeClaim& claim,
                       std::int32_t ordinal) {
  return fmt::format("{}-{}-{}", claim.metadata.name.view(), set.metadata.name.view(), ordinal);
}

}  // namespace

std::int32_t ordinal_of(const StatefulSet& set, const Pod& pod) {
  std::string_view name = pod.metadata.name.view();
  const std::string prefix = set.metadata.name.str() + '-';
  if (!name.starts_with(prefix)) return -1;
  name.remove_prefix(prefix.size());
  std::int32_t ordinal = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
  return error == std::errc{} && end == name.data() + name.size() ? ordinal : -1;
}

std::int32_t first_ordinal(const StatefulSet& set) noexcept {
  return set.spec.ordinals ? set.spec.ordinals->start : 0;
}

Pod stateful_pod(const StatefulSet& set, const core::v1::PodTemplateSpec& pod_template,
                 std::string_view revision, std::int32_t ordinal) {
  Pod pod = pod_from_template(pod_template, set.metadata.namespace_.view());
  const std::string name = fmt::format("{}-{}", set.metadata.name.view(), ordinal);
  pod.metadata.name = name;
  pod.metadata.labels["statefulset.kubernetes.io/pod-name"] = name;
  pod.metadata.labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
  pod.metadata.labels[kRevisionHashLabel] = revision;
  pod.spec.hostname = name;
  pod.spec.subdomain = set.spec.service_name;
  for (const PersistentVolumeClaim& claim : set.spec.volume_claim_templates) {
    pod.spec.volumes.erase_if(
        [&](const auto& volume) { return volume.name == claim.metadata.name; });
    auto& volume = pod.spec.volumes.emplace_back();
    volume.name = claim.metadata.name;
    volume.persistent_volume_claim.emplace().claim_name = claim_name(set, claim, ordinal);
  }
  set_controller_reference(set, pod);
  return pod;
}

std::vector<PersistentVolumeClaim> stateful_claims(const StatefulSet& set, std::int32_t ordinal) {
  std::vector<PersistentVolumeClaim> claims;
  for (const PersistentVolumeClaim& claim_template : set.spec.volume_claim_templates) {
    PersistentVolumeClaim claim = claim_template;
    claim.status = {};
    claim.metadata.namespace_ = set.metadata.namespace_;
    claim.metadata.name = claim_name(set, claim_template, ordinal);
    if (set.spec.selector) {
      for (const auto& [name, value] : set.spec.selector->match_labels) {
        claim.metadata.labels[name.view()] = value;
      }
    }
    if (deletes_claims_with_set(set)) set_controller_reference(set, claim);
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::string_view revision_of(const Pod& pod) {
  const String* revision = pod.metadata.labels.find(kRevisionHashLabel);
  return revision != nullptr ? revision->view() : std::string_view{};
}

bool deletes_claims_with_set(const StatefulSet& set) {
  const auto& policy = set.spec.persistent_volume_claim_retention_policy;
  return policy && policy->when_deleted == "Delete";
}

bool deletes_claims_when_scaled(const StatefulSet& set) {
  const auto& policy = set.spec.persistent_volume_claim_retention_policy;
  return policy && policy->when_scaled == "Delete";
}

}  // namespace kube::testkit::detail
