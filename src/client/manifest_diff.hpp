// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "manifest_plan.hpp"

#include <kube/client/client.hpp>
#include <kube/client/manifest.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace kube::detail {

/// Returns the fields in which two objects differ; either may be absent.
[[nodiscard]] std::vector<FieldChange> changes_between(const Value& before, const Value& after);

/// What an apply would do to an object.
struct Comparison {
  ManifestAction action = ManifestAction::kUnchanged;
  std::vector<FieldChange> changes = {};
  /// The object as the server would store it; null if it was not checked.
  Ref<Value> object = nullptr;
  std::string problem = {};
};

/// Compares the objects of one manifest with the live ones by dry runs.
class DryRun {
 public:
  /// The references must outlive it.
  DryRun(const Client& client, const ManifestOptions& options)
      : client_(client), options_(options) {}

  /// Call it for the objects in the order of the plan. Throws like Resource.
  [[nodiscard]] Comparison compare(const PlannedObject& planned, const std::stop_token& stop);

 private:
  const Client& client_;
  const ManifestOptions& options_;
  std::set<std::string> new_namespaces_;  // created by the manifest itself
};

/// Returns the options for one apply.
[[nodiscard]] ApplyOptions apply_options(const ManifestOptions& options, bool dry_run);

}  // namespace kube::detail
