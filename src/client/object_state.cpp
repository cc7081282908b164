// SPDX-License-Identifier: Apache-2.0
#include "object_state.hpp"

#include "base/text.hpp"
#include <kube/api/validation.hpp>
#include <kube/client/wait.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace kube::detail {

namespace {

/// Conditions beyond this number are left out of messages.
constexpr std::size_t kMostConditions = 10;

/// Returns an integer at `path`; nothing if there is none, or something else.
std::optional<std::int64_t> number_at(const Value& object, std::string_view path) {
  const Value* const found = object.find(path);
  if (found == nullptr || found->kind() != Value::Kind::kInteger) return std::nullopt;
  return found->as_integer();
}
std::int64_t count_at(const Value& object, std::string_view path) {
  return number_at(object, path).value_or(0);
}

/// Returns the elements of an array at `path`; none if there is something else.
const List<Value>& elements_at(const Value& object, std::string_view path) {
  static const List<Value> kNone;
  const Value* const found = object.find(path);
  return found != nullptr && found->is_array() ? found->as_array() : kNone;
}

void add(std::string& text, const std::string& part) {
  if (!text.empty()) text += "; ";
  text += part;
}

/// Makes a text of the server fit for a message.
std::string plain(std::string_view text) {
  constexpr std::size_t kShown = 200;
  return escape_control(text.substr(0, kShown)) + (text.size() > kShown ? "..." : "");
}

std::string describe_condition(const Value& condition) {
  std::string text = plain(text_at(condition, "type")) + '=' + plain(text_at(condition, "status"));
  std::string details = plain(text_at(condition, "reason"));
  const std::string_view message = text_at(condition, "message");
  if (!message.empty()) details += (details.empty() ? "" : ": ") + plain(message);
  if (!details.empty()) text += " (" + details + ')';
  return text;
}

/// Returns a text if the status describes an older generation of the object.
std::string describe_observed(const Value& object) {
  const auto generation = number_at(object, "metadata.generation");
  const auto observed = number_at(object, "status.observedGeneration");
  if (!generation || !observed || *observed >= *generation) return {};
  return fmt::format("its status is of generation {} instead of {}", *observed, *generation);
}

/// One requirement of a rollout: `found` objects of `wanted`.
std::string missing(std::int64_t found, std::int64_t wanted, std::string_view what) {
  return found < wanted ? fmt::format("{} of {} replicas are {}", found, wanted, what)
                        : std::string{};
}

/// Returns the first text that is not empty.
template <typename... Texts>
std::string first_of(std::string text, Texts... others) {
  if constexpr (sizeof...(others) == 0) {
    return text;
  } else {
    return text.empty() ? first_of(std::move(others)...) : text;
  }
}

/// The status of a workload that no controller has written yet.
std::string unobserved(const Value& object) {
  if (!number_at(object, "status.observedGeneration")) return "no controller has observed it yet";
  return describe_observed(object);
}

// The following are the rules of `kubectl rollout status`.

std::string deployment(const Value& object) {
  const std::int64_t wanted = number_at(object, "spec.replicas").value_or(1);
  const std::int64_t updated = count_at(object, "status.updatedReplicas");
  const std::int64_t old = count_at(object, "status.replicas") - updated;
  return first_of(unobserved(object), missing(updated, wanted, "updated"),
                  old > 0 ? fmt::format("{} old replicas are still running", old) : std::string{},
                  missing(count_at(object, "status.availableReplicas"), updated, "available"));
}

std::string stateful_set(const Value& object) {
  const std::int64_t wanted = number_at(object, "spec.replicas").value_or(1);
  const std::int64_t partition = count_at(object, "spec.updateStrategy.rollingUpdate.partition");
  const std::string unready = missing(count_at(object, "status.readyReplicas"), wanted, "ready");
  if (text_at(object, "spec.updateStrategy.type") == "OnDelete") {
    return first_of(unobserved(object), unready);
  }
  return first_of(
      unobserved(object), unready,
      missing(count_at(object, "status.updatedReplicas"), wanted - partition, "updated"));
}

std::string daemon_set(const Value& object) {
  const std::int64_t wanted = count_at(object, "status.desiredNumberScheduled");
  if (text_at(object, "spec.updateStrategy.type") == "OnDelete") return unobserved(object);
  return first_of(unobserved(object),
                  missing(count_at(object, "status.updatedNumberScheduled"), wanted, "updated"),
                  missing(count_at(object, "status.numberAvailable"), wanted, "available"));
}

std::string replica_set(const Value& object) {
  return first_of(unobserved(object),
                  missing(count_at(object, "status.availableReplicas"),
                          number_at(object, "spec.replicas").value_or(1), "available"));
}

std::string unless_condition(const Value& object, std::string_view condition) {
  return WantedCondition{condition}.is_met_by(object) ? std::string{} : describe_state(object);
}

std::string pod(const Value& object) {
  if (text_at(object, "status.phase") == "Succeeded") return {};
  return unless_condition(object, "Ready");
}

}  // namespace

std::string_view text_at(const Value& object, std::string_view path) {
  const Value* const found = object.find(path);
  return found != nullptr && found->is_string() ? found->as_string() : std::string_view{};
}

std::string describe_state(const Value& object) {
  std::string text;
  if (!text_at(object, "metadata.deletionTimestamp").empty()) {
    std::string finalizers;
    for (const Value& one : elements_at(object, "metadata.finalizers")) {
      if (one.is_string()) finalizers += (finalizers.empty() ? "" : ", ") + plain(one.as_string());
    }
    add(text,
        finalizers.empty() ? "being deleted" : "being deleted, waits for finalizers " + finalizers);
  }
  if (std::string observed = describe_observed(object); !observed.empty()) add(text, observed);
  const std::string_view phase = text_at(object, "status.phase");
  if (!phase.empty()) add(text, "phase " + plain(phase));
  std::size_t shown = 0;
  for (const Value& condition : elements_at(object, "status.conditions")) {
    if (++shown > kMostConditions) break;
    add(text, describe_condition(condition));
  }
  return text.empty() ? "exists, without phase and conditions" : text;
}

std::string why_not_ready(const Value& object) {
  if (!text_at(object, "metadata.deletionTimestamp").empty()) return describe_state(object);
  const std::string_view api_version = text_at(object, "apiVersion");
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  const std::string_view kind = text_at(object, "kind");
  if (group == "apps") {
    if (kind == "Deployment") return deployment(object);
    if (kind == "StatefulSet") return stateful_set(object);
    if (kind == "DaemonSet") return daemon_set(object);
    if (kind == "ReplicaSet") return replica_set(object);
  } else if (group == "batch" && kind == "Job") {
    return unless_condition(object, "Complete");
  } else if (group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition") {
    return unless_condition(object, "Established");
  } else if (group == "apiregistration.k8s.io" && kind == "APIService") {
    return unless_condition(object, "Available");
  } else if (api_version == "v1") {
    if (kind == "Pod") return pod(object);
    if (kind == "Namespace" && text_at(object, "status.phase") != "Active") {
      return describe_state(object);
    }
  }
  return {};
}

WantedCondition::WantedCondition(std::string_view text) {
  const std::size_t equals = text.find('=');
  type = text.substr(0, equals);
  status = equals == std::string_view::npos ? "True" : text.substr(equals + 1);
  if (type.empty() || status.empty()) {
    throw std::invalid_argument("a condition is written \"Type\" or \"Type=Status\", not " +
                                quoted(text));
  }
}

bool WantedCondition::is_met_by(const Value& object) const {
  for (const Value& condition : elements_at(object, "status.conditions")) {
    if (text_at(condition, "type") != type) continue;
    const auto observed = number_at(condition, "observedGeneration");
    const auto of_status = number_at(object, "status.observedGeneration");
    const std::int64_t generation = count_at(object, "metadata.generation");
    return text_at(condition, "status") == status &&
           (observed ? *observed : of_status.value_or(generation)) >= generation;
  }
  return false;
}

}  // namespace kube::detail
