// SPDX-License-Identifier: Apache-2.0
#include "testkit/rbac/aggregation.hpp"

#include <kube/api/label_selector.hpp>

#include <algorithm>
#include <utility>

#include "testkit/rbac/rbac.hpp"

namespace kube::testkit::detail {

namespace {

using rbac::v1::ClusterRole;
using rbac::v1::PolicyRule;

}  // namespace

std::vector<ClusterRole> outdated_aggregations(Store& store) {
  // In the order of names.
  const Store::ListResult roles = store.list(store.collection({kRbacGroup, "clusterroles"}), {});
  std::vector<ClusterRole> outdated;
  for (const auto& [name, object] : roles.objects) {
    const Ref<ClusterRole> role = object.as<ClusterRole>();
    if (!role->aggregation_rule) continue;
    List<PolicyRule> rules;
    for (const meta::v1::LabelSelector& one : role->aggregation_rule->cluster_role_selectors) {
      const labels::Selector selector = to_selector(one);
      for (const auto& [other_name, other] : roles.objects) {
        if (other_name == name || !other.matches(selector)) continue;
        const Ref<ClusterRole> selected = other.as<ClusterRole>();
        for (const PolicyRule& rule : selected->rules) {
          if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
        }
      }
    }
    if (!(rules == role->rules)) {
      outdated.push_back({.metadata = {.name = name}, .rules = std::move(rules)});
    }
  }
  return outdated;
}

}  // namespace kube::testkit::detail
