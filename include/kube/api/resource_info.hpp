// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kube {

/// A part of a resource that is read or written on its own: `status`, `scale`, `eviction`. What is
/// sent there may be of another kind.
struct SubresourceInfo {
  std::string_view name = {};
  std::string_view group = {};
  std::string_view version = {};
  std::string_view kind = {};
  std::span<const std::string_view> verbs = {};
};

/// How an API server serves a kind: what discovery tells about it. Constant data with static
/// lifetime; generated types carry it as `kube_resource`.
struct ResourceInfo {
  std::string_view group = {};  ///< empty for the core group
  std::string_view version = {};
  std::string_view kind = {};
  std::string_view list_kind = {};  ///< empty if it cannot be listed
  std::string_view plural = {};     ///< its name in URLs
  std::string_view singular = {};
  bool namespaced = false;
  std::span<const std::string_view> short_names = {};
  std::span<const std::string_view> categories = {};
  std::span<const std::string_view> verbs = {};
  std::span<const SubresourceInfo> subresources = {};
  /// False for what a server offers only when told to, and for what only older servers have.
  bool served_by_default = false;

  /// "v1", "apps/v1".
  [[nodiscard]] std::string api_version() const {
    return group.empty() ? std::string{version} : std::string{group} + '/' + std::string{version};
  }
  [[nodiscard]] constexpr bool has_verb(std::string_view verb) const noexcept {
    // NOLINTNEXTLINE(readability-use-anyofallof): <algorithm> would double the cost of this header
    for (const std::string_view one : verbs) {
      if (one == verb) return true;
    }
    return false;
  }
  /// The subresource of that name, or null.
  [[nodiscard]] constexpr const SubresourceInfo* find_subresource(
      std::string_view name) const noexcept {
    for (const SubresourceInfo& subresource : subresources) {
      if (subresource.name == name) return &subresource;
    }
    return nullptr;
  }
};

}  // namespace kube
