// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/deployment_math.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cmath>
#include <string>
#include <utility>

namespace kube::testkit::detail {
namespace {

using apps::v1::Deployment;
using apps::v1::ReplicaSet;

/// Maximum length of the revision history.
constexpr std::size_t kMostHistory = 2000;

constexpr std::array<std::string_view, 6> kNotCopied{
    "kubectl.kubernetes.io/last-applied-configuration",
    kRevisionAnnotation,
    kRevisionHistoryAnnotation,
    kDesiredReplicasAnnotation,
    kMaxReplicasAnnotation,
    "deprecated.deployment.rollback.to"};

struct Bounds {
  std::int32_t surge = 0;
  std::int32_t unavailable = 0;
};

/// Resolves percentages: maxSurge is rounded up and maxUnavailable down; if both are 0,
/// maxUnavailable becomes 1.
Bounds bounds_of(const Deployment& deployment) {
  const std::int64_t wanted = replicas_of(deployment);
  const auto& rolling = deployment.spec.strategy.rolling_update;
  const auto scaled = [&](const IntOrString* given, bool up) {
    const IntOrString value = given != nullptr && given->is_set() ? *given : IntOrString{"25%"};
    return static_cast<std::int32_t>(value.scaled(wanted, up));
  };
  Bounds bounds{scaled(rolling ? &rolling->max_surge : nullptr, true),
                scaled(rolling ? &rolling->max_unavailable : nullptr, false)};
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = 1;
  return bounds;
}

bool set_annotation(ReplicaSet& set, std::string_view name, const std::string& value) {
  const String* current = std::as_const(set).metadata.annotations.find(name);
  if (current != nullptr && *current == value) return false;
  set.metadata.annotations[name] = value;
  return true;
}

/// Appends `revision` to the comma-separated `history` and drops the oldest entries if it becomes
/// too long.
std::string extend_history(std::string history, const std::string& revision) {
  if (history.empty()) return revision;
  history += ',' + revision;
  while (history.size() > kMostHistory) history.erase(0, history.find(',') + 1);
  return history;
}

}  // namespace

std::int32_t replicas_of(const Deployment& deployment) noexcept {
  return deployment.spec.replicas.value_or(1);
}

std::int32_t replicas_of(const ReplicaSet& set) noexcept { return set.spec.replicas.value_or(1); }

bool is_recreate(const Deployment& deployment) noexcept {
  return deployment.spec.strategy.type == "Recreate";
}

std::int32_t max_surge(const Deployment& deployment) {
  return is_recreate(deployment) ? 0 : bounds_of(deployment).surge;
}

std::int32_t max_unavailable(const Deployment& deployment) {
  if (is_recreate(deployment) || replicas_of(deployment) == 0) return 0;
  return std::min(bounds_of(deployment).unavailable, replicas_of(deployment));
}

std::int32_t progress_deadline(const Deployment& deployment) noexcept {
  return deployment.spec.progress_deadline_seconds.value_or(INT_MAX);
}

std::int64_t number_annotation(const ReplicaSet& set, std::string_view name) {
  const String* text = set.metadata.annotations.find(name);
  if (text == nullptr) return -1;
  const std::string_view digits = text->view();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() ? number : -1;
}

std::int64_t revision_of(const ReplicaSet& set) {
  return std::max<std::int64_t>(0, number_annotation(set, kRevisionAnnotation));
}

bool annotate_newest(const Deployment& deployment, ReplicaSet& set, std::int64_t revision) {
  bool changed = false;
  for (const auto& [name, value] : deployment.metadata.annotations) {
    if (std::ranges::find(kNotCopied, name.view()) != kNotCopied.end()) continue;
    changed = set_annotation(set, name.view(), value.str()) || changed;
  }
  const std::int64_t before = revision_of(set);
  if (before >= revision) return changed;
  if (before > 0) {
    const String* history =
        std::as_const(set).metadata.annotations.find(kRevisionHistoryAnnotation);
    set_annotation(set, kRevisionHistoryAnnotation,
                   extend_history(history != nullptr ? history->str() : std::string{},
                                  std::to_string(before)));
  }
  set_annotation(set, kRevisionAnnotation, std::to_string(revision));
  return true;
}

bool annotate_size(const Deployment& deployment, ReplicaSet& set) {
  const std::int32_t wanted = replicas_of(deployment);
  const bool desired = set_annotation(set, kDesiredReplicasAnnotation, std::to_string(wanted));
  return set_annotation(set, kMaxReplicasAnnotation,
                        std::to_string(wanted + max_surge(deployment))) ||
         desired;
}

std::int32_t next_size_of_newest(const Deployment& deployment, std::int32_t total,
                                 std::int32_t current) {
  const std::int32_t wanted = replicas_of(deployment);
  if (is_recreate(deployment)) return wanted;
  const std::int32_t room = wanted + max_surge(deployment) - total;
  return room <= 0 ? current : current + std::min(room, wanted - current);
}

std::int32_t proportion_of(const Deployment& deployment, const ReplicaSet& set, std::int32_t to_add,
                           std::int32_t added) {
  const std::int32_t size = replicas_of(set);
  if (size == 0 || to_add == 0 || to_add == added) return 0;
  std::int32_t fraction = -size;
  if (const std::int32_t wanted = replicas_of(deployment); wanted != 0) {
    std::int64_t before = number_annotation(set, kMaxReplicasAnnotation);
    if (before <= 0) before = deployment.status.replicas;
    if (before <= 0) return 0;
    const double scaled =
        static_cast<double>(size) * (wanted + max_surge(deployment)) / static_cast<double>(before);
    fraction = static_cast<std::int32_t>(std::lround(scaled)) - size;
  }
  const std::int32_t left = to_add - added;
  return to_add > 0 ? std::min(fraction, left) : std::max(fraction, left);
}

}  // namespace kube::testkit::detail
