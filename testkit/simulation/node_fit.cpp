// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/node_fit.hpp"

#include <kube/api/labels.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kube::testkit::detail {
namespace {

using core::v1::Node;
using core::v1::NodeSelectorRequirement;
using core::v1::NodeSelectorTerm;
using core::v1::PodSpec;
using core::v1::Taint;
using core::v1::Toleration;

bool holds(const NodeSelectorRequirement& wanted, std::optional<std::string_view> value) {
  static constexpr std::array<std::pair<std::string_view, labels::Operator>, 6> kOperators{
      {{"In", labels::Operator::kIn},
       {"NotIn", labels::Operator::kNotIn},
       {"Exists", labels::Operator::kExists},
       {"DoesNotExist", labels::Operator::kDoesNotExist},
       {"Gt", labels::Operator::kGreaterThan},
       {"Lt", labels::Operator::kLessThan}}};
  const auto found = std::ranges::find(kOperators, wanted.operator_.view(),
                                       &std::pair<std::string_view, labels::Operator>::first);
  if (found == kOperators.end()) return false;
  return labels::Requirement{wanted.key.str(), found->second, wanted.values}.matches(value);
}

bool holds(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  const bool labels = std::ranges::all_of(term.match_expressions, [&](const auto& wanted) {
    const String* value = node.metadata.labels.find(wanted.key.view());
    return holds(wanted, value != nullptr ? std::optional{value->view()} : std::nullopt);
  });
  return labels && std::ranges::all_of(term.match_fields, [&](const auto& wanted) {
           return wanted.key == "metadata.name" && holds(wanted, node.metadata.name.view());
         });
}

}  // namespace

bool tolerates(const List<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& one) {
    if (!one.effect.empty() && one.effect != taint.effect) return false;
    if (!one.key.empty() && one.key != taint.key) return false;
    if (one.operator_ == "Exists") return true;
    return !one.key.empty() && one.value == taint.value;
  });
}

bool matches_node(const PodSpec& spec, const Node& node) {
  const bool selected = std::ranges::all_of(spec.node_selector, [&](const auto& wanted) {
    const String* value = node.metadata.labels.find(wanted.key().view());
    return value != nullptr && *value == wanted.value();
  });
  if (!selected) return false;
  if (!spec.affinity || !spec.affinity->node_affinity) return true;
  const auto& required =
      spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  return !required ||
         std::ranges::any_of(required->node_selector_terms,
                             [&](const NodeSelectorTerm& term) { return holds(term, node); });
}

std::string_view misfit(const PodSpec& spec, const Node& node) {
  Taint cordon;
  cordon.key = kUnschedulableTaint;
  cordon.effect = "NoSchedule";
  if (node.spec.unschedulable && !tolerates(spec.tolerations, cordon)) {
    return "node(s) were unschedulable";
  }
  for (const Taint& taint : node.spec.taints) {
    if (taint.effect != "PreferNoSchedule" && !tolerates(spec.tolerations, taint)) {
      return "node(s) had untolerated taint(s)";
    }
  }
  if (!matches_node(spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  return {};
}

}  // namespace kube::testkit::detail
