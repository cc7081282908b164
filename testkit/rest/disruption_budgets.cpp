// SPDX-License-Identifier: Apache-2.0
#include "testkit/rest/disruption_budgets.hpp"

#include <fmt/format.h>

#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kAllowed = "DisruptionAllowed";
/// A status with more evicted pods than this was not maintained by a controller.
constexpr std::size_t kMostDisruptedPods = 2000;

ApiError refusal(std::string_view detail, int retry_after) {
  meta::v1::Status status =
      too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.",
                        retry_after)
          .status();
  meta::v1::StatusCause cause;
  cause.reason = "DisruptionBudget";
  cause.message = detail;
  status.details->causes.push_back(std::move(cause));
  return ApiError{std::move(status)};
}

const Value& condition_of(const Value& object, std::string_view type) {
  static const Value kNone;
  for (const Value& condition : object.get_array("status.conditions")) {
    if (condition.get_string("type") == type) return condition;
  }
  return kNone;
}

std::string why_exhausted(const Value& budget, const std::string& name) {
  const auto number = [&](std::string_view path) { return budget.get_integer(path).value_or(0); };
  const Value& condition = condition_of(budget, kAllowed);
  const std::string message = member_text(condition, "message");
  const std::string reason = member_text(condition, "reason");
  const bool explained = member_text(condition, "status") == "False" && !message.empty();
  const std::string refused =
      fmt::format("The disruption budget {} does not allow evicting pods currently", name);
  // The numbers are not up to date if they could not be computed.
  if (explained && reason == "SyncFailed") {
    return fmt::format("{} because it failed sync: {}", refused, message);
  }
  const std::int64_t healthy = number("status.currentHealthy");
  const std::int64_t desired = number("status.desiredHealthy");
  if (healthy <= desired) {
    return fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", name,
                       desired, healthy);
  }
  return explained ? fmt::format("{} ({}): {}", refused, reason, message) : refused;
}

void set_exhausted(Value& budget, const std::string& now) {
  Value condition = condition_of(budget, kAllowed);
  if (member_text(condition, "status") != "False") condition["lastTransitionTime"] = now;
  condition["type"] = kAllowed;
  condition["status"] = "False";
  condition["reason"] = "InsufficientPods";
  condition["message"] = "";
  condition["observedGeneration"] = budget.get_integer("status.observedGeneration").value_or(0);
  Value conditions = Value::array();
  for (const Value& one : budget.get_array("status.conditions")) {
    if (one.get_string("type") != kAllowed) conditions.push_back(one);
  }
  conditions.push_back(std::move(condition));
  budget["status"]["conditions"] = std::move(conditions);
}

}  // namespace

bool spend_disruption(Value& budget, const Value& pod, const std::string& now) {
  const auto number = [&](std::string_view path) { return budget.get_integer(path).value_or(0); };
  const std::string name = metadata_text(budget, "name");
  if (member_text(condition_of(pod, "Ready"), "status") != "True") {
    const bool is_always = member_text(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow";
    const std::int64_t desired = number("status.desiredHealthy");
    if (is_always || (number("status.currentHealthy") >= desired && desired > 0)) return false;
  }
  if (number("status.observedGeneration") < number("metadata.generation")) {
    throw refusal(
        fmt::format("The disruption budget {} is still being processed by the server.", name), 10);
  }
  const std::int64_t allowed = number("status.disruptionsAllowed");
  const GroupResource resource{"policy", "poddisruptionbudget"};
  if (allowed < 0) throw forbidden(resource, name, "pdb disruptions allowed is negative");
  if (std::as_const(budget)["status"]["disruptedPods"].size() > kMostDisruptedPods) {
    throw forbidden(resource, name,
                    "DisruptedPods map too big - too many evictions not confirmed by PDB "
                    "controller");
  }
  if (allowed == 0) throw refusal(why_exhausted(budget, name), 0);
  budget["status"]["disruptionsAllowed"] = allowed - 1;
  if (allowed == 1) set_exhausted(budget, now);
  budget["status"]["disruptedPods"][metadata_text(pod, "name")] = now;
  return true;
}

}  // namespace kube::testkit::detail
