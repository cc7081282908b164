// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/pod_status.hpp"

#include <kube/api/conditions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace kube::testkit::detail {
namespace {

using core::v1::Container;
using core::v1::ContainerState;
using core::v1::ContainerStatus;
using core::v1::Pod;

constexpr std::string_view kBackOff = "CrashLoopBackOff";
constexpr std::chrono::seconds kFirstBackOff{10};
constexpr std::chrono::seconds kMostBackOff{300};

std::chrono::seconds back_off(std::int32_t restarts) {
  return std::min(kMostBackOff, kFirstBackOff * (1 << std::min(restarts, 10)));
}

std::string container_id(const Pod& pod, std::string_view name, std::int32_t restarts) {
  const std::string seed = fmt::format("{}/{}/{}", pod.metadata.uid.view(), name, restarts);
  std::string id;
  for (int i = 0; i < 4; ++i) {
    id += fmt::format("{:016x}", std::hash<std::string>{}(seed + static_cast<char>('a' + i)));
  }
  return "containerd://" + id;
}

ContainerStatus status_of(const Pod& pod, const Container& container) {
  ContainerStatus status;
  status.name = container.name;
  status.image = container.image;
  status.image_id = container.image;
  status.container_id = container_id(pod, container.name.view(), 0);
  return status;
}

void set_state(ContainerStatus& status, Time started) {
  status.state = {};
  status.state.running.emplace().started_at = started;
  status.ready = true;
  status.started = true;
}

/// Sets the state of a container that has ended. The start time is taken from its previous state.
void set_state(ContainerStatus& status, std::int32_t exit_code, Time now) {
  const Time started = status.state.running ? status.state.running->started_at : now;
  status.state = {};
  auto& terminated = status.state.terminated.emplace();
  terminated.exit_code = exit_code;
  terminated.reason = exit_code == 0 ? "Completed" : "Error";
  terminated.started_at = started;
  terminated.finished_at = now;
  terminated.container_id = status.container_id;
  status.ready = false;
  status.started = false;
}

std::string unready_message(const Pod& pod) {
  std::vector<std::string> names;
  for (const auto& container : pod.spec.containers) names.push_back(container.name.str());
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : " ") + name;
  return fmt::format("containers with unready status: [{}]", joined);
}

/// Returns the kubelet's message about the first readiness gate that is not met; empty if all are.
std::string gate_problem(const Pod& pod) {
  for (const auto& gate : pod.spec.readiness_gates) {
    const auto* condition = find_condition(pod.status.conditions, gate.condition_type.view());
    if (condition == nullptr) {
      return fmt::format("corresponding condition of pod readiness gate \"{}\" does not exist.",
                         gate.condition_type.view());
    }
    if (condition->status != "True") {
      return fmt::format("the status of pod readiness gate \"{}\" is not \"True\", but {}",
                         gate.condition_type.view(), condition->status.view());
    }
  }
  return {};
}

void set_readiness(Pod& pod, bool containers_ready, Time now) {
  const std::string unready = containers_ready ? "" : unready_message(pod);
  const std::string_view reason = containers_ready ? "" : "ContainersNotReady";
  set_pod_condition(pod, "ContainersReady", containers_ready, reason, unready, now);
  const std::string gate = containers_ready ? gate_problem(pod) : "";
  if (gate.empty()) {
    set_pod_condition(pod, "Ready", containers_ready, reason, unready, now);
  } else {
    set_pod_condition(pod, "Ready", false, "ReadinessGatesNotReady", gate, now);
  }
}

}  // namespace

void set_pod_condition(Pod& pod, std::string_view type, bool value, std::string_view reason,
                       const std::string& message, Time now) {
  core::v1::PodCondition condition;
  condition.type = type;
  condition.status = value ? "True" : "False";
  condition.reason = reason;
  condition.message = message;
  condition.observed_generation = pod.metadata.generation;
  set_condition(pod.status.conditions, std::move(condition), now);
}

void set_running(Pod& pod, bool ready, Time now) {
  pod.status.phase = "Running";
  pod.status.start_time = now;
  pod.status.init_container_statuses.reset();
  for (const Container& container : pod.spec.init_containers) {
    ContainerStatus& status = pod.status.init_container_statuses.emplace_back();
    status = status_of(pod, container);
    if (container.restart_policy.value_or("") == "Always") {
      set_state(status, now);
    } else {
      set_state(status, 0, now);
      status.ready = true;
    }
  }
  pod.status.container_statuses.reset();
  for (const Container& container : pod.spec.containers) {
    ContainerStatus& status = pod.status.container_statuses.emplace_back();
    status = status_of(pod, container);
    set_state(status, now);
    status.ready = ready;
  }
  set_pod_condition(pod, "PodReadyToStartContainers", true, "", "", now);
  set_pod_condition(pod, "Initialized", true, "", "", now);
  set_readiness(pod, ready, now);
  set_pod_condition(pod, "PodScheduled", true, "", "", now);
}

bool update_readiness(Pod& pod, Time now) {
  const auto* containers = find_condition(pod.status.conditions, "ContainersReady");
  if (containers == nullptr || containers->status != "True") return false;
  const auto* ready = find_condition(pod.status.conditions, "Ready");
  const std::string gate = gate_problem(pod);
  if (ready != nullptr && ready->message == gate && (ready->status == "True") == gate.empty()) {
    return false;
  }
  set_readiness(pod, true, now);
  return true;
}

void set_ended(Pod& pod, std::int32_t exit_code, Time now) {
  pod.status.phase = exit_code == 0 ? "Succeeded" : "Failed";
  for (ContainerStatus& status : pod.status.init_container_statuses) {
    if (status.state.running) set_state(status, 0, now);
  }
  for (ContainerStatus& status : pod.status.container_statuses) {
    if (!status.state.terminated) set_state(status, exit_code, now);
  }
  const std::string_view reason = exit_code == 0 ? "PodCompleted" : "PodFailed";
  set_pod_condition(pod, "PodReadyToStartContainers", false, "", "", now);
  if (exit_code == 0) set_pod_condition(pod, "Initialized", true, reason, "", now);
  set_pod_condition(pod, "ContainersReady", false, reason, "", now);
  set_pod_condition(pod, "Ready", false, reason, "", now);
}

void set_waiting(Pod& pod, std::string_view reason, const std::string& message, Time now) {
  pod.status.container_statuses.reset();
  for (const Container& container : pod.spec.containers) {
    ContainerStatus& status = pod.status.container_statuses.emplace_back();
    status.name = container.name;
    status.image = container.image;
    status.started = false;
    auto& waiting = status.state.waiting.emplace();
    waiting.reason = reason;
    waiting.message = message;
  }
  set_pod_condition(pod, "Initialized", true, "", "", now);
  set_readiness(pod, false, now);
  set_pod_condition(pod, "PodScheduled", true, "", "", now);
}

void set_backing_off(Pod& pod, std::int32_t exit_code, Time now) {
  for (ContainerStatus& status : pod.status.container_statuses) {
    set_state(status, exit_code, now);
    status.last_state = status.state;
    status.state = {};
    auto& waiting = status.state.waiting.emplace();
    waiting.reason = kBackOff;
    waiting.message = fmt::format("back-off {}s restarting failed container={} pod={}_{}({})",
                                  back_off(status.restart_count).count(), status.name.view(),
                                  pod.metadata.name.view(), pod.metadata.namespace_.view(),
                                  pod.metadata.uid.view());
  }
  set_readiness(pod, false, now);
}

Time running_since(const Pod& pod) {
  Time since;
  for (const ContainerStatus& status : pod.status.container_statuses) {
    if (!status.state.running) return {};
    since = since.is_set() ? std::min(since, status.state.running->started_at)
                           : status.state.running->started_at;
  }
  return since;
}

std::optional<std::chrono::system_clock::time_point> restart_time(const Pod& pod) {
  std::optional<std::chrono::system_clock::time_point> at;
  for (const ContainerStatus& status : pod.status.container_statuses) {
    if (!status.state.waiting || status.state.waiting->reason != kBackOff ||
        !status.last_state.terminated) {
      return std::nullopt;
    }
    const auto due =
        status.last_state.terminated->finished_at.time_point() + back_off(status.restart_count);
    at = at ? std::max(*at, due) : due;
  }
  return at;
}

}  // namespace kube::testkit::detail
