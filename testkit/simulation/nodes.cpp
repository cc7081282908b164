// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/conditions.hpp>
#include <kube/api/core/v1.hpp>

#include <algorithm>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/node_fit.hpp"
#include "testkit/simulation/ownership.hpp"

namespace kube::testkit::detail {

namespace {

using core::v1::Node;
using core::v1::NodeCondition;

constexpr std::string_view kDefaultNode = "kubecxx-node";
constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

void add_condition(Node& node, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, Time now) {
  NodeCondition condition;
  condition.type = type;
  condition.status = status;
  condition.last_heartbeat_time = now;
  condition.last_transition_time = now;
  condition.reason = reason;
  condition.message = message;
  node.status.conditions.push_back(std::move(condition));
}

/// Adds or removes a taint with the effect NoSchedule. Returns whether anything changed.
bool set_taint(Node& node, std::string_view key, bool wanted, Time now) {
  const auto is_it = [&](const core::v1::Taint& taint) {
    return taint.key == key && taint.effect == "NoSchedule";
  };
  const bool there = std::ranges::any_of(std::as_const(node).spec.taints, is_it);
  if (there == wanted) return false;
  if (there) {
    node.spec.taints.erase_if(is_it);
    return true;
  }
  auto& taint = node.spec.taints.emplace_back();
  taint.key = key;
  taint.effect = "NoSchedule";
  taint.time_added = now;
  return true;
}

/// Sets missing fields to the values that a kubelet registers at startup.
void register_node(Node& node, Time now) {
  add_condition(node, "MemoryPressure", "False", "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available", now);
  add_condition(node, "DiskPressure", "False", "KubeletHasNoDiskPressure",
                "kubelet has no disk pressure", now);
  add_condition(node, "PIDPressure", "False", "KubeletHasSufficientPID",
                "kubelet has sufficient PID available", now);
  add_condition(node, "Ready", "True", "KubeletReady", "kubelet is posting ready status", now);
  if (node.status.capacity.empty()) {
    node.status.capacity = {
        {"cpu", "64"}, {"memory", "256Gi"}, {"ephemeral-storage", "1Ti"}, {"pods", "1000"}};
    node.status.allocatable = node.status.capacity;
  }
  if (node.status.addresses.empty()) {
    auto& internal = node.status.addresses.emplace_back();
    internal.type = "InternalIP";
    internal.address = "127.0.0.1";
    auto& host = node.status.addresses.emplace_back();
    host.type = "Hostname";
    host.address = node.metadata.name;
  }
  if (node.status.node_info.kubelet_version.empty()) {
    node.status.node_info.kubelet_version = "v1.36.4";
    node.status.node_info.operating_system = "linux";
    node.status.node_info.architecture = "amd64";
    node.status.node_info.os_image = "kubecxx simulation";
    node.status.node_info.container_runtime_version = "kubecxx://simulation";
  }
}

/// Simulates the kubelet's node status and the node lifecycle controller: a node without a
/// condition Ready becomes ready, and taints mark nodes that are cordoned or not ready.
class NodeController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Node>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    enqueue({"", object.metadata_text("name")});
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Node> found = cluster_.find<Node>("", key.name);
    if (!found || is_deleting(*found)) return std::nullopt;
    Node node = *found;
    if (find_condition(node.status.conditions, "Ready") == nullptr) {
      register_node(node, cluster_.now());
      node = *cluster_.update_status(node);
    }
    const bool cordon =
        set_taint(node, kUnschedulableTaint, node.spec.unschedulable, cluster_.now());
    const bool unready = !is_condition_true(node.status.conditions, "Ready");
    if (set_taint(node, kNotReadyTaint, unready, cluster_.now()) || cordon) cluster_.update(node);
    return std::nullopt;
  }
};

}  // namespace

void ensure_node(Engine& engine) {
  if (!engine.list_stored(ClusterAccess::resource<Node>()).empty()) return;
  Node node;
  node.metadata.name = kDefaultNode;
  node.metadata.labels = {{"kubernetes.io/hostname", kDefaultNode},
                          {"kubernetes.io/os", "linux"},
                          {"kubernetes.io/arch", "amd64"}};
  engine.seed(encode_json(node));
}

std::unique_ptr<SimulatedController> make_node_controller(ClusterAccess cluster) {
  return std::make_unique<NodeController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
