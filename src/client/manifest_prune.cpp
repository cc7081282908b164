// SPDX-License-Identifier: Apache-2.0
#include "manifest_prune.hpp"

#include "manifest_delete.hpp"

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/client/wait.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace kube::detail {

namespace {

using meta::v1::PartialObjectMetadata;

std::map<std::string, std::string> labels_of(const Value& object) {
  std::map<std::string, std::string> labels;
  const Value& given = object["metadata"]["labels"];
  if (!given.is_object()) return labels;
  for (const auto& [key, value] : given.as_object()) {
    if (value.is_string()) labels.emplace(key.view(), value.as_string());
  }
  return labels;
}

/// Returns whether deleting an object of this kind deletes data, or other objects.
bool holds_data(const GroupVersionKind& kind) {
  return kind.group_kind() == GroupKind{"", "Namespace"} ||
         kind.group_kind() == GroupKind{"", "PersistentVolumeClaim"} ||
         kind.group_kind() == GroupKind{"apiextensions.k8s.io", "CustomResourceDefinition"};
}

/// Deletes what one field manager has applied and no longer applies.
class Pruner {
 public:
  Pruner(const Client& client, const ManifestOptions& options, const std::stop_token& stop)
      : client_(client), options_(options), stop_(stop) {}

  void keep(const ManifestResult& applied) {
    if (applied.object) known_uids_.emplace(uid_of(*applied.object));
  }

  /// Returns false if the rest should not be tried.
  bool prune(const RestMapping& mapping, const std::string& namespace_,
             std::vector<ManifestResult>& results) {
    const auto resource = client_.metadata(mapping.resource, namespace_);
    ManifestResult listing{.kind = mapping.kind, .key = {namespace_, ""}};
    Listed<PartialObjectMetadata> listed;
    const bool go_on = attempt(listing, [&] {
      listed = resource.list_all({.label_selector = options_.prune->label_selector}, {}, stop_);
    });
    if (listing.action == ManifestAction::kFailed) {
      listing.problem = "finding objects to prune: " + listing.problem;
      results.push_back(std::move(listing));
      return go_on;
    }
    for (const Ref<PartialObjectMetadata>& found : listed.items) {
      if (!is_left_over(found->metadata)) continue;
      ManifestResult result{.kind = mapping.kind, .key = key_of(*found)};
      const bool more = attempt(result, [&] {
        const DeleteOptions request{.uid = found->metadata.uid.str(),
                                    .propagation_policy = "Background"};
        const bool is_deleted =
            options_.dry_run || request_deletion(resource, result.key.name, request, stop_);
        result.action = is_deleted ? ManifestAction::kPruned : ManifestAction::kAbsent;
      });
      results.push_back(std::move(result));
      if (!more) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool is_left_over(const meta::v1::ObjectMeta& metadata) {
    const String* const keep = metadata.annotations.find(kKeepAnnotation);
    const bool is_ours = std::ranges::any_of(metadata.managed_fields, [&](const auto& entry) {
      return entry.manager == options_.field_manager && entry.operation == "Apply";
    });
    return is_ours && !metadata.deletion_timestamp && !(keep != nullptr && *keep == "true") &&
           known_uids_.insert(metadata.uid.str()).second;
  }

  const Client& client_;
  const ManifestOptions& options_;
  const std::stop_token& stop_;
  std::set<std::string> known_uids_;  // of applied objects, and of those that were found
};

}  // namespace

void check_prune(const Manifest& manifest, const PruneOptions& options) {
  const labels::Selector selector = labels::Selector::parse(options.label_selector);
  if (selector.matches_everything()) {
    throw std::invalid_argument("PruneOptions::label_selector is empty");
  }
  if (manifest.empty() && !options.allow_empty) {
    throw ManifestError(
        "the manifest has no objects, so that everything would be pruned; set "
        "PruneOptions::allow_empty if that is intended");
  }
  std::vector<std::string> problems;
  for (const ManifestObject& one : manifest) {
    if (selector.matches(labels_of(*one.object))) continue;
    problems.push_back(describe_object(one.place, one.kind, one.key) + "its labels do not match " +
                       selector.to_string() + ", so that it could never be pruned");
  }
  throw_problems(problems);
}

std::vector<RestMapping> kinds_to_prune(RestMapper& mapper, const std::vector<PlannedObject>& plan,
                                        const PruneOptions& options, const std::stop_token& stop) {
  std::map<GroupKind, RestMapping> kinds;
  for (const PlannedObject& planned : plan) {
    if (!planned.is_served) continue;  // so there are no objects yet
    kinds.try_emplace(planned.mapping.kind.group_kind(), planned.mapping);
  }
  for (const GroupKind& kind : options.kinds) {
    RestMapping mapping;
    if (is_known(mapper, kind.with_version(""), mapping, stop)) kinds.try_emplace(kind, mapping);
  }
  std::vector<RestMapping> sorted;
  for (const auto& [kind, mapping] : kinds) {
    if (options.delete_data || !holds_data(mapping.kind)) sorted.push_back(mapping);
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, rank_of);
  return sorted;
}

void prune(const Client& client, const std::vector<RestMapping>& kinds,
           const std::vector<PlannedObject>& plan, const ManifestOptions& options,
           std::vector<ManifestResult>& results, const std::stop_token& stop) {
  std::set<std::string> namespaces{options.prune->namespaces.begin(),
                                   options.prune->namespaces.end()};
  Pruner pruner{client, options, stop};
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].mapping.namespaced) namespaces.insert(plan[i].key.namespace_);
    pruner.keep(results[i]);
  }
  const std::set<std::string> everywhere{""};
  for (const RestMapping& mapping : kinds) {
    for (const std::string& namespace_ : mapping.namespaced ? namespaces : everywhere) {
      if (!pruner.prune(mapping, namespace_, results)) return;
    }
  }
}

}  // namespace kube::detail
