// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/conditions.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/storage/v1.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/node_fit.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {

namespace {

using core::v1::Node;
using core::v1::PersistentVolumeClaim;
using core::v1::Pod;
using storage::v1::StorageClass;

constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";

bool is_waiting(const Pod& pod) {
  return pod.spec.node_name.empty() && !is_deleting(pod) && !is_finished(pod) &&
         pod.spec.scheduling_gates.empty() &&
         (pod.spec.scheduler_name.empty() || pod.spec.scheduler_name == "default-scheduler");
}

/// Formats the message for a pod that fits no node: each reason with the number of nodes, then the
/// result of preemption.
std::string no_node_message(std::size_t nodes, const std::vector<std::string>& reasons) {
  return fmt::format(
      "0/{0} nodes are available: {1}. no new claims to deallocate, preemption: 0/{0} nodes are "
      "available: {0} Preemption is not helpful for scheduling.",
      nodes, fmt::join(reasons, ", "));
}

/// Binds each pod to the node with the fewest pods among those that fit.
class Scheduler final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Pod>(), ClusterAccess::resource<Node>(),
            ClusterAccess::resource<PersistentVolumeClaim>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<Pod> pod = object.as<Pod>()) {
      if (is_waiting(*pod)) enqueue_object(*pod, enqueue);
      return;
    }
    // Pending pods may be waiting for this node or claim.
    for (const Ref<Pod>& pod : cluster_.list<Pod>(object.metadata_text("namespace"))) {
      if (is_waiting(*pod)) enqueue_object(*pod, enqueue);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Pod> pod = cluster_.find<Pod>(key.namespace_, key.name);
    if (!pod || !is_waiting(*pod)) return std::nullopt;
    std::string problem;
    const Claims claims = claims_of(*pod);
    const std::string node = choose_node(*pod, problem);
    if (problem.empty() && !claims.problem.empty()) {
      problem = no_node_message(cluster_.list<Node>().size(), {claims.problem});
    }
    if (!problem.empty()) {
      refuse(*pod, problem);
      return std::nullopt;
    }
    for (const Ref<PersistentVolumeClaim>& claim : claims.waiting) {
      if (claim->metadata.annotations.contains(kSelectedNode)) continue;
      PersistentVolumeClaim chosen = *claim;
      chosen.metadata.annotations[kSelectedNode] = node;
      cluster_.update(chosen);
    }
    if (!claims.waiting.empty()) return std::nullopt;  // wait until they are bound
    core::v1::Binding binding;
    binding.metadata.name = pod->metadata.name;
    binding.target.api_version = "v1";
    binding.target.kind = "Node";
    binding.target.name = node;
    cluster_.post(*pod, "binding", encode_json(binding));
    return std::nullopt;
  }

 private:
  /// The claims of a pod, and the reason why they block its scheduling.
  struct Claims {
    std::string problem;
    /// Claims that are bound after a node is chosen.
    std::vector<Ref<core::v1::PersistentVolumeClaim>> waiting;
  };
  [[nodiscard]] Claims claims_of(const Pod& pod) const {
    Claims claims;
    for (const auto& volume : pod.spec.volumes) {
      if (!volume.persistent_volume_claim) continue;
      const std::string name = volume.persistent_volume_claim->claim_name.str();
      const Ref<PersistentVolumeClaim> claim =
          cluster_.find<PersistentVolumeClaim>(pod.metadata.namespace_.view(), name);
      if (!claim) {
        claims.problem = fmt::format("persistentvolumeclaim \"{}\" not found", name);
        return claims;
      }
      if (is_deleting(*claim)) {
        claims.problem = fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
        return claims;
      }
      if (claim->status.phase == "Bound") continue;
      const Ref<StorageClass> storage_class =
          cluster_.find<StorageClass>("", claim->spec.storage_class_name.value_or(""));
      if (storage_class &&
          storage_class->volume_binding_mode.value_or("") == "WaitForFirstConsumer") {
        claims.waiting.push_back(claim);
      } else {
        claims.problem = "pod has unbound immediate PersistentVolumeClaims";
      }
    }
    return claims;
  }

  /// Returns the name of the node for the pod. If there is none, returns an empty string and sets
  /// `problem`.
  [[nodiscard]] std::string choose_node(const Pod& pod, std::string& problem) const {
    const std::vector<Ref<Node>> nodes = cluster_.list<Node>();
    if (nodes.empty()) {
      problem = "no nodes available to schedule pods";
      return {};
    }
    std::vector<std::string> fitting;
    std::map<std::string_view, int> reasons;
    for (const Ref<Node>& node : nodes) {
      const std::string_view reason = misfit(pod.spec, *node);
      if (reason.empty() && !is_deleting(*node)) {
        fitting.push_back(node->metadata.name.str());
      } else {
        ++reasons[reason];
      }
    }
    if (fitting.empty()) {
      std::vector<std::string> texts;
      for (const auto& [reason, count] : reasons)
        texts.push_back(fmt::format("{} {}", count, reason));
      std::ranges::sort(texts);
      problem = no_node_message(nodes.size(), texts);
      return {};
    }
    if (fitting.size() == 1) return fitting.front();
    std::map<std::string, int> load;
    for (const Ref<Pod>& other : cluster_.list<Pod>()) {
      if (!is_finished(*other)) ++load[other->spec.node_name.str()];
    }
    return *std::ranges::min_element(fitting, {},
                                     [&](const std::string& name) { return load[name]; });
  }

  void refuse(const Pod& pod, const std::string& message) {
    const auto* current = find_condition(pod.status.conditions, "PodScheduled");
    if (current != nullptr && current->status == "False" && current->message == message) return;
    Pod refused = pod;
    core::v1::PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = "False";
    condition.reason = "Unschedulable";
    condition.message = message;
    condition.observed_generation = pod.metadata.generation;
    set_condition(refused.status.conditions, std::move(condition), cluster_.now());
    cluster_.update_status(refused);
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_scheduler(ClusterAccess cluster) {
  return std::make_unique<Scheduler>(std::move(cluster));
}

}  // namespace kube::testkit::detail
