// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <optional>
#include <string>

namespace kube::gen {

/// Identifies a kind in one version of its group.
struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  friend bool operator==(const GroupVersionKind& a, const GroupVersionKind& b) = default;
};

/// Reads an "x-kubernetes-group-version-kind".
[[nodiscard]] GroupVersionKind read_kind_name(const Place& place);

/// Derives the resource of a kind from the paths of an OpenAPI document: its plural, scope, verbs
/// and subresources. Short names and categories are not available. Returns nullopt if no path
/// creates, lists or reads objects of the kind.
[[nodiscard]] std::optional<Resource> find_resource(const Place& document,
                                                    const GroupVersionKind& kind);

}  // namespace kube::gen
