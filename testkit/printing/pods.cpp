// SPDX-License-Identifier: Apache-2.0
#include "testkit/printing/columns.hpp"
#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kube::testkit::detail {

namespace {

/// The status cells of a pod, computed from its containers.
struct PodSummary {
  std::string reason;
  std::int64_t restarts = 0;
  std::string_view last_restart;  ///< RFC 3339, so text order is time order
  std::size_t ready = 0;
  std::size_t total = 0;
};

bool is_sidecar(const Value& pod, std::string_view name) {
  return std::ranges::any_of(list_at(pod, "spec.initContainers"), [&](const Value& container) {
    return text_member(container, "name") == name &&
           text_member(container, "restartPolicy") == "Always";
  });
}

bool has_condition(const Value& pod, std::string_view type) {
  return std::ranges::any_of(list_at(pod, "status.conditions"), [&](const Value& condition) {
    return text_member(condition, "type") == type && text_member(condition, "status") == "True";
  });
}

std::string ended(const Value& terminated, std::string_view prefix) {
  const std::string_view reason = text_member(terminated, "reason");
  if (!reason.empty()) return fmt::format("{}{}", prefix, reason);
  const std::int64_t signal = number_at(terminated, "signal");
  if (signal != 0) return fmt::format("{}Signal:{}", prefix, signal);
  return fmt::format("{}ExitCode:{}", prefix, number_at(terminated, "exitCode"));
}

void count_restarts(const Value& status, std::int64_t& restarts, std::string_view& last) {
  restarts += number_at(status, "restartCount");
  last = std::max(last, text_at(status, "lastState.terminated.finishedAt"));
}

/// Summarises the init containers up to the first incomplete one. Returns true if the pod is still
/// initialising.
bool summarize_init(const Value& pod, PodSummary& summary, PodSummary& sidecars) {
  std::size_t i = 0;
  for (const Value& status : list_at(pod, "status.initContainerStatuses")) {
    const bool sidecar = is_sidecar(pod, text_member(status, "name"));
    count_restarts(status, summary.restarts, summary.last_restart);
    if (sidecar) count_restarts(status, sidecars.restarts, sidecars.last_restart);
    const Value* terminated = status.find("state.terminated");
    const std::string_view waiting = text_at(status, "state.waiting.reason");
    if (terminated != nullptr && number_at(*terminated, "exitCode") == 0) {
      ++i;
      continue;
    }
    if (sidecar && bool_at(status, "started")) {
      summary.ready += bool_at(status, "ready") ? 1 : 0;
      ++i;
      continue;
    }
    if (terminated != nullptr) {
      summary.reason = ended(*terminated, "Init:");
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.reason = fmt::format("Init:{}", waiting);
    } else {
      summary.reason = fmt::format("Init:{}/{}", i, list_at(pod, "spec.initContainers").size());
    }
    return true;
  }
  return false;
}

void summarize_containers(const Value& pod, PodSummary& summary) {
  bool running = false;
  std::string error;
  const auto& statuses = list_at(pod, "status.containerStatuses");
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Value& status = statuses[i];
    count_restarts(status, summary.restarts, summary.last_restart);
    const std::string_view waiting = text_at(status, "state.waiting.reason");
    const Value* terminated = status.find("state.terminated");
    if (!waiting.empty()) {
      summary.reason = waiting;
    } else if (terminated != nullptr) {
      summary.reason = ended(*terminated, "");
      if (number_at(*terminated, "exitCode") != 0) error = summary.reason;
    } else if (bool_at(status, "ready") && status.find("state.running") != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason != "Completed") return;
  if (running && has_condition(pod, "Ready")) {
    summary.reason = "Running";
  } else if (!error.empty()) {
    summary.reason = error;
  } else if (running) {
    summary.reason = "NotReady";
  }
}

PodSummary summarize(const Value& pod) {
  PodSummary summary;
  const std::string_view phase = text_at(pod, "status.phase");
  summary.reason = text_or(pod, "status.reason", phase);
  for (const Value& condition : list_at(pod, "status.conditions")) {
    if (text_member(condition, "type") == "PodScheduled" &&
        text_member(condition, "reason") == "SchedulingGated") {
      summary.reason = "SchedulingGated";
    }
  }
  summary.total = list_at(pod, "spec.containers").size();
  for (const Value& container : list_at(pod, "spec.initContainers")) {
    if (text_member(container, "restartPolicy") == "Always") ++summary.total;
  }
  PodSummary sidecars;
  const bool initializing = summarize_init(pod, summary, sidecars);
  if (!initializing || has_condition(pod, "Initialized")) {
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    summarize_containers(pod, summary);
  }
  if (!text_at(pod, "metadata.deletionTimestamp").empty()) {
    if (text_at(pod, "status.reason") == "NodeLost") {
      summary.reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.reason = "Terminating";
    }
  }
  return summary;
}

Value ready_cell(const Value& pod, Clock::WallTime) {
  const PodSummary summary = summarize(pod);
  return fmt::format("{}/{}", summary.ready, summary.total);
}
Value status_cell(const Value& pod, Clock::WallTime) { return summarize(pod).reason; }
Value restarts_cell(const Value& pod, Clock::WallTime now) {
  const PodSummary summary = summarize(pod);
  if (summary.restarts == 0 || summary.last_restart.empty())
    return fmt::format("{}", summary.restarts);
  return fmt::format("{} ({} ago)", summary.restarts, since_text(summary.last_restart, now));
}
Value ip_cell(const Value& pod, Clock::WallTime) {
  return text_or(pod, "status.podIPs[0].ip", "<none>");
}
Value node_cell(const Value& pod, Clock::WallTime) {
  return text_or(pod, "spec.nodeName", "<none>");
}
Value nominated_cell(const Value& pod, Clock::WallTime) {
  return text_or(pod, "status.nominatedNodeName", "<none>");
}
Value gates_cell(const Value& pod, Clock::WallTime) {
  const auto& gates = list_at(pod, "spec.readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::ranges::count_if(gates, [&](const Value& gate) {
    return has_condition(pod, text_member(gate, "conditionType"));
  });
  return fmt::format("{}/{}", open, gates.size());
}

constexpr TableColumn kPodColumns[] = {
    {"Name", "string", name_cell, 0, "name"},
    {"Ready", "string", ready_cell},
    {"Status", "string", status_cell},
    {"Restarts", "string", restarts_cell},
    {"Age", "string", age_cell},
    {"IP", "string", ip_cell, 1},
    {"Node", "string", node_cell, 1},
    {"Nominated Node", "string", nominated_cell, 1},
    {"Readiness Gates", "string", gates_cell, 1},
};

}  // namespace

std::span<const TableColumn> pod_columns() { return kPodColumns; }

}  // namespace kube::testkit::detail
