// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::detail {

/// What rules about requests are compared with.
struct MatchedRequest {
  std::string_view operation;
  std::string_view group;
  std::string_view resource;
  std::string_view subresource;
  std::string_view name;
  bool namespaced = false;
  /// The version of the request first, then the others in which the resource is served.
  std::vector<std::string> versions = {};
  /// Labels of the objects before and after the write; null if there is none.
  const Value* labels = nullptr;
  const Value* old_labels = nullptr;
  /// Labels of the namespace; null for what is in none, which every selector of namespaces takes.
  const Value* namespace_labels = nullptr;
};

/// Whether a request is one of those that matchConstraints or matchResources speak of. An absent value matches.
[[nodiscard]] bool matches_resources(const Value& constraints, const MatchedRequest& request);

}  // namespace kube::testkit::detail
