// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "document.hpp"
#include "model.hpp"

#include <optional>
#include <string>

namespace kube::gen {

struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  friend bool operator==(const GroupVersionKind& a, const GroupVersionKind& b) = default;
};

/// The members of an "x-kubernetes-group-version-kind".
[[nodiscard]] GroupVersionKind read_kind_name(const Place& place);

/// What the paths of an OpenAPI document tell about the resource of a kind: its plural, scope,
/// verbs and subresources. Short names and categories are not there. Nothing if no path creates,
/// lists or reads objects of it.
[[nodiscard]] std::optional<Resource> find_resource(const Place& document,
                                                    const GroupVersionKind& kind);

}  // namespace kube::gen
