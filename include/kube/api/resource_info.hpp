// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kube {

/// Describes a part of a resource with an endpoint of its own: `status`, `scale`, `eviction`. The
/// object sent there may be of another kind.
struct SubresourceInfo {
  std::string_view name = {};
  std::string_view group = {};
  std::string_view version = {};
  std::string_view kind = {};
  std::span<const std::string_view> verbs = {};
};

/// Describes how an API server serves a kind, as discovery returns it. Constant data with static
/// lifetime; generated types have it as `kube_resource`.
struct ResourceInfo {
  std::string_view group = {};  ///< empty for the core group
  std::string_view version = {};
  std::string_view kind = {};
  std::string_view list_kind = {};  ///< empty if the kind cannot be listed
  std::string_view plural = {};     ///< the name in URLs
  std::string_view singular = {};
  bool namespaced = false;
  std::span<const std::string_view> short_names = {};
  std::span<const std::string_view> categories = {};
  std::span<const std::string_view> verbs = {};
  std::span<const SubresourceInfo> subresources = {};
  /// False for a resource that a server only serves if configured to, or that only older servers
  /// have.
  bool served_by_default = false;

  /// Returns "v1", "apps/v1".
  [[nodiscard]] std::string api_version() const {
    return group.empty() ? std::string{version} : std::string{group} + '/' + std::string{version};
  }
  /// True if discovery lists the verb: "get", "list", "watch", "create"...
  [[nodiscard]] constexpr bool has_verb(std::string_view verb) const noexcept {
    // NOLINTNEXTLINE(readability-use-anyofallof): <algorithm> would double the cost of this header
    for (const std::string_view one : verbs) {
      if (one == verb) return true;
    }
    return false;
  }
  /// Returns the subresource of that name, or null.
  [[nodiscard]] constexpr const SubresourceInfo* find_subresource(
      std::string_view name) const noexcept {
    for (const SubresourceInfo& subresource : subresources) {
      if (subresource.name == name) return &subresource;
    }
    return nullptr;
  }
};

}  // namespace kube
