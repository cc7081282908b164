// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// The attributes of a request that match rules refer to.
struct MatchedRequest {
  std::string_view operation;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
  bool namespaced = false;
  /// The version of the request, followed by the other versions in which the resource is served.
  std::vector<std::string> versions = {};
  /// Labels of the object before and after the write; null if there is none.
  const Value* labels = nullptr;
  const Value* old_labels = nullptr;
  /// Labels of the namespace; null for cluster-scoped objects, which every namespaceSelector
  /// matches.
  const Value* namespace_labels = nullptr;
};

/// Returns the version that a request matches matchConstraints or matchResources in: its own if a
/// rule names it, or with matchPolicy Equivalent another one of the resource. Returns nothing if it
/// does not match. An absent value matches.
[[nodiscard]] std::optional<std::string> match_resources(const Value& constraints,
                                                         const MatchedRequest& request);

}  // namespace kube::testkit::detail
