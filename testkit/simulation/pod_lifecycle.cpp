// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/controllers.hpp"

#include <kube/api/core/v1.hpp>

#include <algorithm>
#include <utility>

#include "testkit/simulation/cluster_access.hpp"
#include "testkit/simulation/ownership.hpp"
#include "testkit/simulation/pod_addresses.hpp"
#include "testkit/simulation/pod_behaviour.hpp"
#include "testkit/simulation/pod_state.hpp"
#include "testkit/simulation/pod_status.hpp"

namespace kube::testkit::detail {

namespace {

using core::v1::Node;
using core::v1::Pod;
using Outcome = PodBehaviour::Outcome;

/// Exit code of a container that SIGTERM has ended.
constexpr std::int32_t kTerminated = 143;

void set_addresses(Pod& pod, const std::string& address, const std::string& host) {
  pod.status.host_ip = host;
  pod.status.host_ips.reset();
  pod.status.host_ips.emplace_back().ip = host;
  pod.status.pod_ip = address;
  pod.status.pod_ips.reset();
  pod.status.pod_ips.emplace_back().ip = address;
}

std::string address_of(const Ref<Node>& node) {
  if (node) {
    for (const auto& address : node->status.addresses) {
      if (address.type == "InternalIP") return address.address.str();
    }
  }
  return "127.0.0.1";
}

bool is_restarted(const Pod& pod, std::int32_t exit_code) {
  if (pod.spec.restart_policy == "Never") return false;
  return pod.spec.restart_policy != "OnFailure" || exit_code != 0;
}

/// Simulates the kubelets: starts the containers of pods that are bound to a node, ends them as
/// configured by their annotations, and completes deletions. It writes the status only when a pod
/// starts, ends or is restarted; otherwise the status is left to clients.
class PodLifecycle final : public SimulatedController {
 public:
  using SimulatedController::SimulatedController;

  [[nodiscard]] std::vector<GroupResource> watched() const override {
    return {ClusterAccess::resource<Pod>()};
  }

  void on_change(const GroupResource& /*resource*/, const StoredObject& object,
                 const Enqueue& enqueue) const override {
    if (const Ref<Pod> pod = object.as<Pod>()) enqueue_object(*pod, enqueue);
  }

  RetryAfter sync(const ObjectKey& key) override {
    const Ref<Pod> pod = cluster_.find<Pod>(key.namespace_, key.name);
    if (!pod) return std::nullopt;
    if (is_deleting(*pod)) return terminate(*pod);
    if (pod->spec.node_name.empty() || is_finished(*pod)) return std::nullopt;
    const PodBehaviour behaviour = behaviour_of(*pod);
    if (pod->status.phase == "Running") return keep_running(*pod, behaviour);
    if (!pod->status.container_statuses.empty()) return std::nullopt;  // a client plays the kubelet
    return start(*pod, behaviour);
  }

 private:
  RetryAfter terminate(const Pod& pod) {
    const std::chrono::seconds grace{pod.metadata.deletion_grace_period_seconds.value_or(0)};
    const auto wait = std::min<std::chrono::nanoseconds>(grace, behaviour_of(pod).stop_after);
    if (wait.count() > 0 && !is_finished(pod)) {
      const auto asked = pod.metadata.deletion_timestamp.time_point() - grace;
      const auto left =
          cluster_.until(asked + std::chrono::duration_cast<Clock::WallTime::duration>(wait));
      if (left.count() > 0) return left;
    }
    if (!pod.metadata.finalizers.empty() && !is_finished(pod)) {
      // A finalizer keeps the pod; its owner needs to read the final status.
      Pod ended = pod;
      set_ended(ended, kTerminated, cluster_.now());
      cluster_.update_status(ended);
    }
    if (grace.count() > 0) cluster_.remove(pod, 0);
    return std::nullopt;
  }

  RetryAfter start(const Pod& pod, const PodBehaviour& behaviour) {
    Pod started = pod;
    const Time now = cluster_.now();
    if (!behaviour.problem.empty()) {
      set_waiting(started, "InvalidSimulation", behaviour.problem, now);
      report(std::move(started));
      return std::nullopt;
    }
    if (behaviour.outcome == Outcome::kPending) return std::nullopt;
    const std::string host = address_of(cluster_.find<Node>("", pod.spec.node_name.view()));
    set_addresses(started, pod.spec.host_network ? host : addresses_.take(cluster_, pod), host);
    set_running(started, behaviour.outcome != Outcome::kUnready, now);
    report(std::move(started));
    return std::nullopt;
  }

  RetryAfter keep_running(const Pod& pod, const PodBehaviour& behaviour) {
    const auto now = cluster_.wall_now();
    if (pod.spec.active_deadline_seconds && pod.status.start_time.is_set()) {
      const auto deadline = pod.status.start_time.time_point() +
                            std::chrono::seconds{*pod.spec.active_deadline_seconds};
      if (now < deadline && !behaviour.ends()) return cluster_.until(deadline);
      if (now >= deadline) {
        Pod failed = pod;
        set_ended(failed, kTerminated, cluster_.now());
        failed.status.reason = "DeadlineExceeded";
        failed.status.message = "Pod was active on the node longer than the specified deadline";
        report(std::move(failed));
        return std::nullopt;
      }
    }
    if (!pod.spec.readiness_gates.empty()) {
      Pod updated = pod;
      if (update_readiness(updated, cluster_.now())) {
        report(std::move(updated));
        return std::nullopt;
      }
    }
    if (!behaviour.ends()) return std::nullopt;
    if (const auto at = restart_time(pod)) {
      if (now < *at) return cluster_.until(*at);
      restart(pod);
      return std::nullopt;
    }
    const Time since = running_since(pod);
    if (!since.is_set()) return std::nullopt;
    const auto due =
        since.time_point() + std::chrono::duration_cast<Clock::WallTime::duration>(behaviour.after);
    if (now < due) return cluster_.until(due);
    end(pod, behaviour);
    return std::nullopt;
  }

  /// Ends the containers. Those with a restart policy then wait in back-off.
  void end(const Pod& pod, const PodBehaviour& behaviour) {
    Pod ended = pod;
    const std::int32_t exit_code = behaviour.outcome == Outcome::kSucceeded ? 0 : 1;
    if (is_restarted(pod, exit_code)) {
      set_backing_off(ended, exit_code, cluster_.now());
    } else {
      set_ended(ended, exit_code, cluster_.now());
    }
    report(std::move(ended));
  }

  void restart(const Pod& pod) {
    Pod restarted = pod;
    const Time since = pod.status.start_time;
    set_running(restarted, true, cluster_.now());
    restarted.status.start_time = since;
    for (std::size_t i = 0; i < restarted.status.container_statuses.size(); ++i) {
      auto& status = restarted.status.container_statuses[i];
      if (i >= pod.status.container_statuses.size()) break;
      status.restart_count = pod.status.container_statuses[i].restart_count + 1;
      status.last_state = pod.status.container_statuses[i].last_state;
    }
    report(std::move(restarted));
  }

  void report(Pod pod) {
    pod.status.observed_generation = pod.metadata.generation;
    cluster_.update_status(pod);
  }

  PodAddresses addresses_;
};

}  // namespace

std::unique_ptr<SimulatedController> make_pod_lifecycle(ClusterAccess cluster) {
  return std::make_unique<PodLifecycle>(std::move(cluster));
}

}  // namespace kube::testkit::detail
