// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/label_selector.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/node_fit.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/pod_template.hpp"
#include "testkit/simulation/revision_history.hpp"

namespace kube::testkit::detail {

using apps::v1::ControllerRevision;
using apps::v1::DaemonSet;
using core::v1::Node;
using core::v1::Pod;

namespace {

constexpr std::string_view kGenerationLabel = "pod-template-generation";
constexpr std::string_view kGenerationAnnotation = "deprecated.daemonset.template.generation";
constexpr std::int32_t kDefaultHistory = 10;

/// Adds the tolerations of daemon pods: they stay on unhealthy nodes and start on cordoned ones.
void add_tolerations(core::v1::PodSpec& spec) {
  const auto add = [&](std::string_view key, std::string_view effect) {
    const bool there = std::ranges::any_of(std::as_const(spec).tolerations, [&](const auto& one) {
      return one.key == key && one.effect == effect && one.operator_ == "Exists";
    });
    if (there) return;
    auto& toleration = spec.tolerations.emplace_back();
    toleration.key = key;
    toleration.operator_ = "Exists";
    toleration.effect = effect;
  };
  add("node.kubernetes.io/not-ready", "NoExecute");
  add("node.kubernetes.io/unreachable", "NoExecute");
  add("node.kubernetes.io/disk-pressure", "NoSchedule");
  add("node.kubernetes.io/memory-pressure", "NoSchedule");
  add("node.kubernetes.io/pid-pressure", "NoSchedule");
  add(kUnschedulableTaint, "NoSchedule");
  if (spec.host_network) add("node.kubernetes.io/network-unavailable", "NoSchedule");
}

/// Adds a node affinity for one node; other required terms on node names are replaced.
void pin_to_node(core::v1::PodSpec& spec, std::string_view node) {
  core::v1::NodeSelectorRequirement name;
  name.key = "metadata.name";
  name.operator_ = "In";
  name.values.push_back(node);
  auto& required = spec.affinity.ensure()
                       .node_affinity.ensure()
                       .required_during_scheduling_ignored_during_execution.ensure();
  if (required.node_selector_terms.empty()) required.node_selector_terms.emplace_back();
  for (auto& term : required.node_selector_terms) {
    term.match_fields.reset();
    term.match_fields.push_back(name);
  }
}

/// Returns the node that the pod is bound to or pinned to.
std::string node_of(const Pod& pod) {
  if (!pod.spec.node_name.empty()) return pod.spec.node_name.str();
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return {};
  const auto& required =
      pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
  if (!required) return {};
  for (const auto& term : required->node_selector_terms) {
    for (const auto& field : term.match_fields) {
      if (field.key == "metadata.name" && field.values.size() == 1) return field.values[0].str();
    }
  }
  return {};
}

/// One sync of one daemon set.
class Run {
 public:
  Run(ClusterAccess& cluster, const DaemonSet& set)
      : cluster_(cluster), before_(set), set_(set), history_(cluster, set, kRevisionHashLabel) {
    pods_ = claim<Pod>(cluster_, set, to_selector(set.spec.selector));
    for (const Ref<Pod>& pod : pods_) on_node_[node_of(*pod)].push_back(pod);
    nodes_ = cluster_.list<Node>();
    for (const Ref<Node>& node : nodes_) {
      Pod pod = pod_from_template(set.spec.template_, set.metadata.namespace_.view());
      add_tolerations(pod.spec);
      if (!is_deleting(*node) && misfit(pod.spec, *node).empty()) {
        wanted_.insert(node->metadata.name.str());
      }
    }
  }

  RetryAfter run() {
    const ControllerRevision current = history_.take_current(set_.status.collision_count);
    const String* hash = current.metadata.labels.find(kRevisionHashLabel);
    hash_ = hash != nullptr ? hash->str() : current.metadata.name.str();
    if (!is_deleting(set_)) {
      if (!keep_pods() && set_.spec.update_strategy.type != "OnDelete") update_pods();
    }
    count();
    if (set_.status != before_.status) cluster_.update_status(set_);
    std::set<std::string> live{current.metadata.name.str()};
    for (const Ref<Pod>& pod : pods_) {
      const String* label = pod->metadata.labels.find(kRevisionHashLabel);
      if (label != nullptr) live.insert(set_.metadata.name.str() + '-' + label->str());
    }
    history_.truncate(set_.spec.revision_history_limit.value_or(kDefaultHistory), live);
    return next_available(pods_, set_.spec.min_ready_seconds, cluster_.wall_now());
  }

 private:
  [[nodiscard]] bool is_new(const Pod& pod) const {
    const String* label = pod.metadata.labels.find(kRevisionHashLabel);
    return label != nullptr && *label == hash_;
  }
  [[nodiscard]] bool is_healthy(const Pod& pod) const {
    return is_available(pod, set_.spec.min_ready_seconds, cluster_.now());
  }
  [[nodiscard]] std::int64_t bound(const IntOrString* given, std::int32_t fallback) const {
    const IntOrString value = given != nullptr && given->is_set() ? *given : IntOrString{fallback};
    return value.scaled(static_cast<std::int64_t>(wanted_.size()), true);
  }
  [[nodiscard]] std::int64_t max_surge() const {
    const auto& rolling = set_.spec.update_strategy.rolling_update;
    return bound(rolling ? &rolling->max_surge : nullptr, 0);
  }
  [[nodiscard]] std::int64_t max_unavailable() const {
    const auto& rolling = set_.spec.update_strategy.rolling_update;
    const std::int64_t bounded = bound(rolling ? &rolling->max_unavailable : nullptr, 1);
    return bounded == 0 && max_surge() == 0 ? 1 : bounded;
  }

  void create(const std::string& node) {
    Pod pod = pod_of_owner(set_.spec.template_, set_);
    add_tolerations(pod.spec);
    pin_to_node(pod.spec, node);
    pod.metadata.labels[kRevisionHashLabel] = hash_;
    const String* generation = std::as_const(set_).metadata.annotations.find(kGenerationAnnotation);
    pod.metadata.labels[kGenerationLabel] = generation != nullptr ? generation->view() : "1";
    cluster_.create(pod);
  }

  /// Creates missing pods and deletes finished, surplus and misplaced ones. Returns whether there
  /// were any.
  bool keep_pods() {
    bool changed = false;
    const auto remove = [&](const Ref<Pod>& pod) {
      changed = true;
      cluster_.remove(*pod);
    };
    for (const auto& [node, pods] : on_node_) {
      bool has_old = false;
      bool has_new = false;
      for (const Ref<Pod>& pod : pods) {
        if (is_deleting(*pod)) continue;
        bool& seen = is_new(*pod) ? has_new : has_old;
        const bool extra = max_surge() > 0 ? seen : has_old || has_new;
        if (!wanted_.contains(node) || is_finished(*pod) || extra) {
          remove(pod);
        } else {
          seen = true;
        }
      }
    }
    for (const std::string& node : wanted_) {
      if (on_node_.contains(node)) continue;
      changed = true;
      create(node);
    }
    return changed;
  }

  /// The old and the new pod of a node; null if there is none.
  struct OnNode {
    Ref<Pod> old_pod;
    Ref<Pod> new_pod;
  };
  [[nodiscard]] OnNode pods_on(const std::string& node) {
    OnNode found;
    for (const Ref<Pod>& pod : on_node_[node]) {
      if (!is_deleting(*pod)) (is_new(*pod) ? found.new_pod : found.old_pod) = pod;
    }
    return found;
  }

  /// Replaces old pods: unavailable ones at once, available ones within maxUnavailable.
  void update_pods() {
    if (max_surge() > 0) return surge();
    std::int64_t unavailable = 0;
    PodRefs candidates;
    for (const std::string& node : wanted_) {
      const OnNode on_node = pods_on(node);
      if (on_node.old_pod && is_healthy(*on_node.old_pod)) {
        candidates.push_back(on_node.old_pod);
      } else if (on_node.old_pod) {
        cluster_.remove(*on_node.old_pod);
        ++unavailable;
      } else if (!on_node.new_pod || !is_healthy(*on_node.new_pod)) {
        ++unavailable;
      }
    }
    for (const Ref<Pod>& pod : candidates) {
      if (unavailable++ >= max_unavailable()) return;
      cluster_.remove(*pod);
    }
  }

  /// Creates new pods beside the old ones, which are deleted when the new ones are available.
  void surge() {
    std::int64_t surging = 0;
    std::vector<std::string> candidates;
    for (const std::string& node : wanted_) {
      const OnNode on_node = pods_on(node);
      if (!on_node.old_pod) continue;
      if (on_node.new_pod) {
        if (is_healthy(*on_node.new_pod)) {
          cluster_.remove(*on_node.old_pod);
        } else {
          ++surging;
        }
      } else if (is_healthy(*on_node.old_pod)) {
        candidates.push_back(node);
      } else {
        create(node);
      }
    }
    for (const std::string& node : candidates) {
      if (surging++ >= max_surge()) return;
      create(node);
    }
  }

  void count() {
    auto& status = set_.status;
    const auto collisions = status.collision_count;
    const auto conditions = status.conditions;
    status = {};
    status.collision_count = collisions;
    status.conditions = conditions;
    status.observed_generation = set_.metadata.generation;
    status.desired_number_scheduled = static_cast<std::int32_t>(wanted_.size());
    for (const Ref<Node>& node : nodes_) {
      const std::string name = node->metadata.name.str();
      const PodRefs& pods = on_node_[name];
      if (!wanted_.contains(name)) {
        if (!pods.empty()) ++status.number_misscheduled;
        continue;
      }
      if (pods.empty()) continue;
      ++status.current_number_scheduled;
      const auto oldest = std::ranges::min_element(pods, {}, [](const Ref<Pod>& pod) {
        return std::pair{is_deleting(*pod), pod->metadata.creation_timestamp};
      });
      if (is_ready(**oldest)) ++status.number_ready;
      if (is_healthy(**oldest)) ++status.number_available;
      if (std::ranges::any_of(pods, [&](const Ref<Pod>& pod) { return is_new(*pod); })) {
        ++status.updated_number_scheduled;
      }
    }
    status.number_unavailable = status.desired_number_scheduled - status.number_available;
  }

  ClusterAccess& cluster_;
  const DaemonSet& before_;
  DaemonSet set_;
  RevisionHistory history_;
  PodRefs pods_;
  std::map<std::string, PodRefs> on_node_;
  std::vector<Ref<Node>> nodes_;
  std::set<std::string> wanted_;  ///< nodes that should run a pod
  std::string hash_;              ///< of the current template
};

/// Runs daemon sets: one pod on each node that fits, cordoned or not.
class DaemonSetController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<DaemonSet>(), ClusterAccess::resource<Pod>(),
            ClusterAccess::resource<Node>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<DaemonSet> set = object.as<DaemonSet>()) {
      enqueue_object(*set, enqueue);
    } else if (const Ref<Pod> pod = object.as<Pod>()) {
      enqueue_controller<DaemonSet>(cluster_, *pod, enqueue);
    } else {
      for (const Ref<DaemonSet>& one : cluster_.list<DaemonSet>()) enqueue_object(*one, enqueue);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<DaemonSet> set = cluster_.find<DaemonSet>(key.namespace_, key.name);
    if (!set || to_selector(set->spec.selector).matches_everything()) return std::nullopt;
    return Run{cluster_, *set}.run();
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_daemon_set_controller(ClusterAccess cluster) {
  return std::make_unique<DaemonSetController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
