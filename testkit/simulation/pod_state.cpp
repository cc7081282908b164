// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/pod_state.hpp"

#include <kube/api/conditions.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <tuple>

namespace kube::testkit::detail {
namespace {

using core::v1::Pod;

Time ready_since(const Pod& pod) {
  const auto* ready = find_condition(pod.status.conditions, "Ready");
  return ready != nullptr && ready->status == "True" ? ready->last_transition_time : Time{};
}

std::int64_t deletion_cost(const Pod& pod) {
  const String* text = pod.metadata.annotations.find("controller.kubernetes.io/pod-deletion-cost");
  std::int32_t cost = 0;
  if (text != nullptr) {
    const std::string_view view = text->view();
    std::from_chars(view.data(), view.data() + view.size(), cost);
  }
  return cost;
}

int phase_rank(const Pod& pod) {
  if (pod.status.phase == "Pending") return 0;
  return pod.status.phase == "Unknown" ? 1 : 2;
}

}  // namespace

bool is_finished(const Pod& pod) noexcept {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool is_active(const Pod& pod) noexcept { return !is_finished(pod) && !is_deleting(pod); }

bool is_ready(const Pod& pod) noexcept { return is_condition_true(pod.status.conditions, "Ready"); }

bool is_available(const Pod& pod, std::int32_t min_ready_seconds, Time now) {
  if (!is_ready(pod)) return false;
  if (min_ready_seconds == 0) return true;
  const Time since = ready_since(pod);
  return since.is_set() && since.unix_seconds() + min_ready_seconds <= now.unix_seconds();
}

std::optional<std::chrono::nanoseconds> next_available(const PodRefs& pods,
                                                       std::int32_t min_ready_seconds,
                                                       std::chrono::system_clock::time_point now) {
  std::optional<std::chrono::nanoseconds> next;
  for (const Ref<Pod>& pod : pods) {
    if (!is_ready(*pod) || is_available(*pod, min_ready_seconds, Time{now})) continue;
    const auto at = ready_since(*pod).time_point() + std::chrono::seconds{min_ready_seconds};
    const std::chrono::nanoseconds left =
        std::max<std::chrono::nanoseconds>(at - now, std::chrono::milliseconds{1});
    next = next ? std::min(*next, left) : left;
  }
  return next;
}

std::int64_t restarts_of(const Pod& pod) {
  std::int64_t restarts = 0;
  for (const auto& status : pod.status.container_statuses) restarts += status.restart_count;
  for (const auto& status : pod.status.init_container_statuses) restarts += status.restart_count;
  return restarts;
}

void sort_for_deletion(PodRefs& pods, const PodRefs& related) {
  std::map<std::string, int> on_node;
  for (const Ref<Pod>& pod : related) {
    if (is_active(*pod)) ++on_node[pod->spec.node_name.str()];
  }
  const auto rank = [&](const Ref<Pod>& pod) {
    const auto since = [](Time time) { return time.is_set() ? -time.unix_seconds() : INT64_MIN; };
    return std::tuple{!pod->spec.node_name.empty(),
                      phase_rank(*pod),
                      is_ready(*pod),
                      deletion_cost(*pod),
                      -on_node[pod->spec.node_name.str()],
                      since(ready_since(*pod)),
                      -restarts_of(*pod),
                      since(pod->metadata.creation_timestamp)};
  };
  std::stable_sort(pods.begin(), pods.end(),
                   [&](const Ref<Pod>& a, const Ref<Pod>& b) { return rank(a) < rank(b); });
}

}  // namespace kube::testkit::detail
