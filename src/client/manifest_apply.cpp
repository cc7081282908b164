// SPDX-License-Identifier: Apache-2.0
#include "manifest_diff.hpp"
#include "manifest_plan.hpp"
#include "manifest_prune.hpp"

#include "base/deadline.hpp"
#include <kube/base/backoff.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/object_fields.hpp>
#include <kube/client/wait.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kube {

namespace {

using namespace std::chrono_literals;
using detail::PlannedObject;
using meta::v1::PartialObjectMetadata;

/// Applies the objects of a plan.
class Applier {
 public:
  Applier(const Client& client, RestMapper& mapper, const ManifestOptions& options,
          std::stop_token stop)
      : client_(client),
        mapper_(mapper),
        options_(options),
        stop_(std::move(stop)),
        dry_run_(client, options) {}

  std::vector<ManifestResult> run(const std::vector<PlannedObject>& plan) {
    std::vector<ManifestResult> results = detail::untried(plan);
    bool has_new_definitions = false;
    for (std::size_t i = 0; i < plan.size() && !stop_.stop_requested(); ++i) {
      if (plan[i].is_definition()) {
        has_new_definitions = true;
      } else if (std::exchange(has_new_definitions, false)) {
        if (!wait_for_definitions(plan, results)) return results;
      }
      if (!detail::attempt(results[i], [&] { apply(plan[i], results[i]); })) return results;
    }
    if (has_new_definitions && !stop_.stop_requested()) (void)wait_for_definitions(plan, results);
    return results;
  }

 private:
  void apply(const PlannedObject& planned, ManifestResult& result) {
    if (options_.dry_run) {
      detail::Comparison found = dry_run_.compare(planned, stop_);
      result.action = found.action;
      result.object = std::move(found.object);
      result.problem = std::move(found.problem);
      return;
    }
    const Ref<PartialObjectMetadata> before =
        client_.metadata(planned.mapping.resource, planned.key.namespace_)
            .find(planned.key.name, {}, stop_);
    result.object = planned.resource(client_).apply(*planned.from->object,
                                                    detail::apply_options(options_, false), stop_);
    if (!before) {
      result.action = ManifestAction::kCreated;
    } else {
      const bool is_same = before->metadata.resource_version.view() ==
                           detail::version_of<Value>(result.object.get());
      result.action = is_same ? ManifestAction::kUnchanged : ManifestAction::kChanged;
    }
  }

  /// Waits until the kinds of all applied definitions are served. Returns false if the rest should
  /// not be tried.
  bool wait_for_definitions(const std::vector<PlannedObject>& plan,
                            std::vector<ManifestResult>& results) {
    if (options_.dry_run) return true;
    bool go_on = true;
    for (std::size_t i = 0; i < plan.size() && go_on; ++i) {
      if (!plan[i].is_definition() || results[i].object == nullptr) continue;
      go_on =
          detail::attempt(results[i], [&] { wait_for_definition(plan[i], *results[i].object); });
      if (results[i].action == ManifestAction::kFailed) {
        results[i].problem = "applied, but its kind is not served: " + results[i].problem;
      }
    }
    return go_on;
  }

  void wait_for_definition(const PlannedObject& planned, const Value& definition) {
    Clock& clock = *client_.options().clock;
    const Clock::TimePoint deadline = detail::time_after(clock, options_.definition_timeout);
    wait_for_condition(planned.resource(client_), planned.key.name, "Established",
                       options_.definition_timeout, stop_);
    // Discovery shows the kind a moment later, and it is served from then on.
    Backoff backoff{{.initial = 20ms, .factor = 2, .cap = 1s}};
    for (;;) {
      mapper_.reset();
      if (is_discovered(definition)) return;
      if (clock.now() >= deadline) {
        throw Error("discovery does not show it, although it is established");
      }
      (void)backoff.wait(clock, stop_);
    }
  }

  bool is_discovered(const Value& definition) {
    const auto group = definition.get_string("spec.group").value_or("");
    const auto kind = definition.get_string("spec.names.kind").value_or("");
    const List<Value>& versions = definition.get_array("spec.versions");
    return std::ranges::all_of(versions, [&](const Value& version) {
      RestMapping mapping;
      return version["served"] != Value{true} ||
             detail::is_known(
                 mapper_,
                 {std::string{group}, std::string{version.get_string("name").value_or("")},
                  std::string{kind}},
                 mapping, stop_);
    });
  }

  const Client& client_;
  RestMapper& mapper_;
  const ManifestOptions& options_;
  const std::stop_token stop_;
  detail::DryRun dry_run_;
};

bool has_failed(const ManifestResult& result) {
  return result.action == ManifestAction::kFailed || result.action == ManifestAction::kNotTried;
}

}  // namespace

std::vector<ManifestResult> apply_manifest(const Client& client, const Manifest& manifest,
                                           const ManifestOptions& options, std::stop_token stop) {
  if (options.field_manager.empty()) {
    throw std::invalid_argument("ManifestOptions::field_manager is empty");
  }
  if (options.prune) detail::check_prune(manifest, *options.prune);
  RestMapper mapper{client};
  const auto plan = detail::make_plan(client, mapper, manifest, options.namespace_,
                                      detail::UnknownKind::kRefuse, stop);
  std::vector<RestMapping> pruned_kinds;
  if (options.prune) pruned_kinds = detail::kinds_to_prune(mapper, plan, *options.prune, stop);
  std::vector<ManifestResult> results = Applier{client, mapper, options, stop}.run(plan);
  if (options.prune && std::ranges::none_of(results, has_failed)) {
    detail::prune(client, pruned_kinds, plan, options, results, stop);
  }
  detail::throw_failures("applying the manifest", results);
  return results;
}

}  // namespace kube
