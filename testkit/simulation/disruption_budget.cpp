// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apps/v1.hpp>
#include <kube/api/conditions.hpp>
#include <kube/api/group_version.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/policy/v1.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "testkit/simulation/controllers.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_state.hpp"

namespace kube::testkit::detail {
namespace {

using apps::v1::ReplicaSet;
using core::v1::Pod;
using meta::v1::OwnerReference;
using policy::v1::PodDisruptionBudget;
using policy::v1::PodDisruptionBudgetStatus;

/// An evicted pod that is not deleted after this time counts as healthy again.
constexpr std::chrono::minutes kDeletionTimeout{2};

void set_allowed(PodDisruptionBudgetStatus& status, std::string_view reason,
                 std::string_view message, Time now) {
  meta::v1::Condition condition;
  condition.type = "DisruptionAllowed";
  condition.status = status.disruptions_allowed > 0 ? "True" : "False";
  condition.reason = reason;
  condition.message = message;
  condition.observed_generation = status.observed_generation;
  set_condition(status.conditions, std::move(condition), now);
}

/// Returns the evicted pods whose deletion is still expected.
Map<Time> still_disrupted(const PodDisruptionBudget& budget, const PodRefs& pods,
                          Clock::WallTime now) {
  Map<Time> kept;
  for (const Ref<Pod>& pod : pods) {
    const Time* evicted = budget.status.disrupted_pods.find(pod->metadata.name.view());
    if (evicted == nullptr || is_deleting(*pod)) continue;
    if (evicted->time_point() + kDeletionTimeout > now) kept[pod->metadata.name.view()] = *evicted;
  }
  return kept;
}

std::int64_t count_healthy(const PodRefs& pods, const Map<Time>& disrupted) {
  return std::ranges::count_if(pods, [&](const Ref<Pod>& pod) {
    return !is_deleting(*pod) && !disrupted.contains(pod->metadata.name.view()) && is_ready(*pod);
  });
}

/// Number of pods that should exist, and how many of them have to be healthy.
struct Demand {
  std::int64_t expected = 0;
  std::int64_t healthy = 0;
};

/// Maintains the status of PodDisruptionBudgets, which decides whether pods may be evicted.
class DisruptionBudgetController final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<PodDisruptionBudget>(), ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<PodDisruptionBudget> budget = object.as<PodDisruptionBudget>()) {
      enqueue_object(*budget, enqueue);
      return;
    }
    // All budgets of the namespace are enqueued, because the previous labels of the pod are unknown.
    for (const auto& budget :
         cluster_.list<PodDisruptionBudget>(object.metadata_text("namespace"))) {
      enqueue_object(*budget, enqueue);
    }
  }

  RetryAfter sync(const ObjectKey& key) override {
    const auto found = cluster_.find<PodDisruptionBudget>(key.namespace_, key.name);
    if (!found) return std::nullopt;
    PodRefs pods = cluster_.list<Pod>(key.namespace_);
    const labels::Selector selector = to_selector(found->spec.selector);
    std::erase_if(pods,
                  [&](const Ref<Pod>& pod) { return !selector.matches(pod->metadata.labels); });

    PodDisruptionBudget budget = *found;
    PodDisruptionBudgetStatus& status = budget.status;
    try {
      const Demand demand = demand_of(*found, pods);
      status.disrupted_pods = still_disrupted(*found, pods, cluster_.wall_now());
      const std::int64_t healthy = count_healthy(pods, status.disrupted_pods);
      status.observed_generation = found->metadata.generation;
      status.expected_pods = static_cast<std::int32_t>(demand.expected);
      status.desired_healthy = static_cast<std::int32_t>(demand.healthy);
      status.current_healthy = static_cast<std::int32_t>(healthy);
      // A budget without pods allows nothing, so that it is safe when its first pods appear.
      status.disruptions_allowed =
          demand.expected > 0
              ? static_cast<std::int32_t>(std::max<std::int64_t>(0, healthy - demand.healthy))
              : 0;
      set_allowed(status, status.disruptions_allowed > 0 ? "SufficientPods" : "InsufficientPods",
                  "", cluster_.now());
    } catch (const std::runtime_error& error) {
      status.disruptions_allowed = 0;
      set_allowed(status, "SyncFailed", error.what(), cluster_.now());
    }
    if (status != found->status) cluster_.update_status(budget);

    RetryAfter recheck;
    for (const auto& [name, evicted] : status.disrupted_pods) {
      const auto left = cluster_.until(evicted.time_point() + kDeletionTimeout);
      recheck = recheck ? std::min(*recheck, left) : left;
    }
    return recheck;
  }

 private:
  /// Throws std::runtime_error with the reason if it cannot be computed.
  [[nodiscard]] Demand demand_of(const PodDisruptionBudget& budget, const PodRefs& pods) const {
    Demand demand;
    const IntOrString& unavailable = budget.spec.max_unavailable;
    const IntOrString& available = budget.spec.min_available;
    if (unavailable.is_set()) {
      demand.expected = expected_scale(pods);
      demand.healthy =
          std::max<std::int64_t>(0, demand.expected - unavailable.scaled(demand.expected, true));
    } else if (available.is_string()) {
      demand.expected = expected_scale(pods);
      demand.healthy = available.scaled(demand.expected, true);
    } else if (available.is_set()) {
      demand.expected = static_cast<std::int64_t>(pods.size());
      demand.healthy = available.number();
    }
    return demand;
  }

  /// Returns the sum of the replicas of all controllers of the pods.
  [[nodiscard]] std::int64_t expected_scale(const PodRefs& pods) const {
    std::map<std::string, std::int64_t> replicas;  // by the UID of the controller
    for (const Ref<Pod>& pod : pods) {
      const OwnerReference* controller = controller_of(pod->metadata);
      if (controller == nullptr) continue;  // such pods are not counted
      const std::string_view namespace_ = pod->metadata.namespace_.view();
      OwnerReference scaled = *controller;
      if (controller->kind == "ReplicaSet") {
        // The size of a Deployment counts, not those of its ReplicaSets, which change in a rollout.
        const auto set = cluster_.find<ReplicaSet>(namespace_, controller->name.view());
        const OwnerReference* owner = set ? controller_of(set->metadata) : nullptr;
        if (owner != nullptr && owner->kind == "Deployment") scaled = *owner;
      }
      if (replicas.contains(scaled.uid.str())) continue;
      const std::optional<std::int64_t> size = scale_of(scaled, namespace_);
      if (!size) {
        throw std::runtime_error(
            fmt::format("found no controllers for pod \"{}\"", pod->metadata.name.view()));
      }
      replicas[scaled.uid.str()] = *size;
    }
    std::int64_t sum = 0;
    for (const auto& [uid, size] : replicas) sum += size;
    return sum;
  }

  /// Returns the replicas of the controller, by its `scale` subresource; nothing if it is gone.
  [[nodiscard]] std::optional<std::int64_t> scale_of(const OwnerReference& controller,
                                                     std::string_view namespace_) const {
    const GroupVersion version = parse_group_version(controller.api_version.view());
    const std::string base = version.group.empty()
                                 ? fmt::format("/api/{}", version.version)
                                 : fmt::format("/apis/{}/{}", version.group, version.version);
    std::string plural;
    bool has_scale = false;
    if (const Ref<Value> served = cluster_.read(base)) {
      for (const Value& resource : served->get_array("resources")) {
        const std::string_view name = resource.get_string("name").value_or("");
        if (name.find('/') == std::string_view::npos &&
            resource.get_string("kind") == controller.kind.view()) {
          plural = name;
        }
      }
      for (const Value& resource : served->get_array("resources")) {
        has_scale = has_scale || resource.get_string("name") == plural + "/scale";
      }
    }
    if (plural.empty()) {
      throw std::runtime_error(fmt::format("no matches for kind \"{}\" in version \"{}\"",
                                           controller.kind.view(), controller.api_version.view()));
    }
    if (!has_scale) {
      throw std::runtime_error(to_string(GroupResource{version.group, plural}) +
                               " does not implement the scale subresource");
    }
    const Ref<Value> scale = cluster_.read(fmt::format("{}/namespaces/{}/{}/{}/scale", base,
                                                       namespace_, plural, controller.name.view()));
    if (!scale || scale->get_string("metadata.uid") != controller.uid.view()) return std::nullopt;
    return scale->get_integer("spec.replicas").value_or(0);
  }
};

}  // namespace

std::unique_ptr<SimulatedController> make_disruption_budget_controller(ClusterAccess cluster) {
  return std::make_unique<DisruptionBudgetController>(std::move(cluster));
}

}  // namespace kube::testkit::detail
