// SPDX-License-Identifier: Apache-2.0
#include "manifest_plan.hpp"

#include "object_state.hpp"

#include "base/text.hpp"
#include <kube/config/config.hpp>
#include <kube/transport/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

/// Returns the kinds that definitions in the manifest add.
std::map<GroupVersionKind, RestMapping> defined_kinds(const Manifest& manifest) {
  std::map<GroupVersionKind, RestMapping> defined;
  for (const ManifestObject& one : manifest) {
    if (one.kind.group != "apiextensions.k8s.io" || one.kind.kind != "CustomResourceDefinition") {
      continue;
    }
    const std::string group{text_at(*one.object, "spec.group")};
    const std::string plural{text_at(*one.object, "spec.names.plural")};
    const Value& versions = (*one.object)["spec"]["versions"];
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (versions[i]["served"] != Value{true}) continue;
      const std::string version{text_at(versions[i], "name")};
      const GroupVersionKind kind{group, version,
                                  std::string{text_at(*one.object, "spec.names.kind")}};
      defined[kind] = {.resource = {group, version, plural},
                       .kind = kind,
                       .namespaced = text_at(*one.object, "spec.scope") == "Namespaced"};
    }
  }
  return defined;
}

void add(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

}  // namespace

std::string describe(const GroupVersionKind& kind, const ObjectKey& key) {
  std::string text;
  for (const std::string& part : {to_string(kind.group_version()), kind.kind, key.str()}) {
    if (!text.empty() && !part.empty()) text += ' ';
    text += escape_control(part);
  }
  return text;
}

std::string describe_object(const ManifestPlace& place, const GroupVersionKind& kind,
                            const ObjectKey& key) {
  std::string text = place.document == 0 ? std::string{} : to_string(place) + ": ";
  const std::string object = describe(kind, key);
  return object.empty() ? text : text + object + ": ";
}

std::string join_problems(const std::vector<std::string>& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size(); ++i) text += (i > 0 ? "; " : "") + problems[i];
  return text;
}

void throw_problems(const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  const std::string text = join_problems(problems);
  throw ManifestError(problems.size() == 1 ? text
                                           : fmt::format("{} problems: {}", problems.size(), text));
}

int rank_of(const RestMapping& mapping) {
  const auto& [group, version, kind] = mapping.kind;
  if (group.empty() && kind == "Namespace") return 0;
  if (group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition") return 1;
  if (group == "apiregistration.k8s.io" ||
      (group == "admissionregistration.k8s.io" && kind.ends_with("WebhookConfiguration"))) {
    return 8;
  }
  if (group.empty() && kind == "ServiceAccount") return 3;
  if (group == kRbac) return kind.ends_with("Binding") ? 5 : 4;
  if (!mapping.namespaced) return 2;
  constexpr std::array<std::string_view, 4> kConfiguration{"ConfigMap", "Secret", "LimitRange",
                                                           "ResourceQuota"};
  if (group.empty() && std::ranges::find(kConfiguration, kind) != kConfiguration.end()) return 6;
  return 7;
}

bool is_known(RestMapper& mapper, const GroupVersionKind& kind, RestMapping& mapping,
              std::stop_token stop) {
  try {
    mapping = mapper.for_kind(kind, stop);
    return true;
  } catch (const NoMatchError&) {
    const auto api = mapper.api(std::move(stop));
    const auto is_same_group = [&](const DiscoveredApi::Failure& failure) {
      return failure.group_version.group == kind.group;
    };
    if (std::ranges::any_of(api->failures, is_same_group)) throw;
    return false;
  }
}

std::vector<PlannedObject> make_plan(const Client& client, RestMapper& mapper,
                                     const Manifest& manifest, const std::string& default_namespace,
                                     UnknownKind unknown, std::stop_token stop) {
  const std::string& namespace_ =
      default_namespace.empty() ? client.config().default_namespace : default_namespace;
  const std::map<GroupVersionKind, RestMapping> defined = defined_kinds(manifest);
  std::map<std::tuple<std::string, std::string, ObjectKey>, const ManifestObject*> seen;
  std::vector<PlannedObject> plan;
  std::vector<std::string> problems;
  for (const ManifestObject& one : manifest) {
    PlannedObject planned{.from = &one, .key = one.key};
    if (!is_known(mapper, one.kind, planned.mapping, stop)) {
      planned.is_served = false;
      planned.mapping.kind = one.kind;
      if (const auto found = defined.find(one.kind); found != defined.end()) {
        planned.mapping = found->second;
      } else if (unknown == UnknownKind::kRefuse) {
        problems.push_back(describe_object(one.place, one.kind, one.key) +
                           "neither the server nor the manifest has this kind");
        continue;
      }
    }
    if (!planned.mapping.namespaced) {
      planned.key.namespace_.clear();
    } else if (planned.key.namespace_.empty()) {
      planned.key.namespace_ = namespace_;
    }
    const auto [first, is_first] =
        seen.try_emplace({one.kind.group, one.kind.kind, planned.key}, &one);
    if (!is_first) {
      problems.push_back(describe_object(one.place, one.kind, planned.key) +
                         "the same object is in " + to_string(first->second->place));
    }
    plan.push_back(std::move(planned));
  }
  throw_problems(problems);
  std::ranges::stable_sort(plan, {}, [](const PlannedObject& one) { return rank_of(one.mapping); });
  return plan;
}

std::vector<ManifestResult> untried(const std::vector<PlannedObject>& plan) {
  std::vector<ManifestResult> results;
  for (const PlannedObject& one : plan) {
    results.push_back({.kind = one.from->kind, .key = one.key, .place = one.from->place});
  }
  return results;
}

bool attempt(ManifestResult& result, const std::function<void()>& act) {
  const auto failed = [&](const std::exception& error) {
    result.action = ManifestAction::kFailed;
    result.problem = error.what();
  };
  try {
    act();
    return true;
  } catch (const TransportError& error) {
    failed(error);
    return false;
  } catch (const ConfigError& error) {
    failed(error);
    return false;
  } catch (const Error& error) {
    failed(error);
    return true;
  } catch (const std::invalid_argument& error) {  // such as a name that cannot be part of a URL
    failed(error);
    return true;
  }
}

void throw_failures(std::string_view work, const std::vector<ManifestResult>& results) {
  std::vector<std::string> problems;
  std::string done;
  std::string not_tried;
  for (const ManifestResult& result : results) {
    if (result.action == ManifestAction::kFailed) {
      problems.push_back(describe_object(result.place, result.kind, result.key) + result.problem);
    } else if (result.action == ManifestAction::kNotTried) {
      add(not_tried, describe(result.kind, result.key));
    } else {
      add(done, to_string(result));
    }
  }
  if (problems.empty() && not_tried.empty()) return;
  std::string message = problems.empty()
                            ? fmt::format("{} was stopped", work)
                            : fmt::format("{} failed for {} of {} objects: {}", work,
                                          problems.size(), results.size(), join_problems(problems));
  message += "; done: " + (done.empty() ? "nothing" : done);
  if (!not_tried.empty()) message += "; not tried: " + not_tried;
  throw ManifestError(message, results);
}

}  // namespace kube::detail
