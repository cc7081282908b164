// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

/// @file
/// Names of API groups, their versions, and the kinds and resources in them.
///
/// The core group has an empty name. All types are plain values; the default order is by group,
/// then version, then kind or resource, as texts. See compare_versions() for the order of
/// preference of versions.
namespace kube {

struct GroupVersionKind;
struct GroupVersionResource;

/// A group and one of its versions, as in the apiVersion of an object.
struct GroupVersion {
  std::string group;
  std::string version;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && version.empty(); }
  [[nodiscard]] bool is_core() const noexcept { return group.empty(); }
  /// Returns a kind in this group version.
  [[nodiscard]] GroupVersionKind with_kind(std::string_view kind) const;
  /// Returns a resource in this group version.
  [[nodiscard]] GroupVersionResource with_resource(std::string_view resource) const;

  auto operator<=>(const GroupVersion&) const = default;
};

/// A kind in any version of its group.
struct GroupKind {
  std::string group;
  std::string kind;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && kind.empty(); }
  /// Returns this kind in one version of its group.
  [[nodiscard]] GroupVersionKind with_version(std::string_view version) const;

  auto operator<=>(const GroupKind&) const = default;
};

/// A resource (the plural, lower-case name in URLs) in any version of its group.
struct GroupResource {
  std::string group;
  std::string resource;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && resource.empty(); }
  /// Returns this resource in one version of its group.
  [[nodiscard]] GroupVersionResource with_version(std::string_view version) const;

  auto operator<=>(const GroupResource&) const = default;
};

/// A kind in one version of its group, as in the apiVersion and kind of an object.
struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  [[nodiscard]] bool empty() const noexcept {
    return group.empty() && version.empty() && kind.empty();
  }
  [[nodiscard]] GroupVersion group_version() const { return {group, version}; }
  [[nodiscard]] GroupKind group_kind() const { return {group, kind}; }

  auto operator<=>(const GroupVersionKind&) const = default;
};

/// A resource in one version of its group, as in a URL.
struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;

  [[nodiscard]] bool empty() const noexcept {
    return group.empty() && version.empty() && resource.empty();
  }
  [[nodiscard]] GroupVersion group_version() const { return {group, version}; }
  [[nodiscard]] GroupResource group_resource() const { return {group, resource}; }

  auto operator<=>(const GroupVersionResource&) const = default;
};

/// Parses an apiVersion: "apps/v1", or "v1" for the core group. The empty text and "/" return the
/// empty value. Throws std::invalid_argument if there is more than one '/'.
[[nodiscard]] GroupVersion parse_group_version(std::string_view text);

/// Parses "Deployment.apps", or "Pod" for the core group. The group starts after the first '.'; any
/// text is accepted.
[[nodiscard]] GroupKind parse_group_kind(std::string_view text);

/// Parses "deployments.apps", or "pods" for the core group. The group starts after the first '.';
/// any text is accepted.
[[nodiscard]] GroupResource parse_group_resource(std::string_view text);

/// Returns "apps/v1", or "v1" for the core group; the inverse of parse_group_version().
[[nodiscard]] std::string to_string(const GroupVersion& value);
/// Returns "Deployment.apps", or "Pod" for the core group.
[[nodiscard]] std::string to_string(const GroupKind& value);
/// Returns "deployments.apps", or "pods" for the core group.
[[nodiscard]] std::string to_string(const GroupResource& value);
/// Returns a text for messages: "apps/v1, Kind=Deployment", or "/v1, Kind=Pod" for the core group.
[[nodiscard]] std::string to_string(const GroupVersionKind& value);
/// Returns a text for messages: "apps/v1, Resource=deployments", or "/v1, Resource=pods" for the
/// core group.
[[nodiscard]] std::string to_string(const GroupVersionResource& value);

/// Compares two versions by the preference of Kubernetes; a positive result means that `a` is
/// preferred to `b`. Stable versions precede beta, and beta precedes alpha; within one stage,
/// larger numbers precede smaller ones: v2, v1, v2beta1, v1beta2, v1beta1, v1alpha1. Names of
/// another form are last, in alphabetical order.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b) noexcept;

/// Orders versions from the most to the least preferred, for sorting and ordered containers.
struct PreferredVersionFirst {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view a, std::string_view b) const noexcept {
    return compare_versions(a, b) > 0;
  }
};

namespace detail {
/// Hashes names; the result depends on their order and on the boundaries between them.
[[nodiscard]] std::size_t hash_names(std::string_view a, std::string_view b,
                                     std::string_view c = {}) noexcept;
}  // namespace detail

}  // namespace kube

template <>
struct std::hash<kube::GroupVersion> {
  [[nodiscard]] std::size_t operator()(const kube::GroupVersion& value) const noexcept {
    return kube::detail::hash_names(value.group, value.version);
  }
};

template <>
struct std::hash<kube::GroupKind> {
  [[nodiscard]] std::size_t operator()(const kube::GroupKind& value) const noexcept {
    return kube::detail::hash_names(value.group, value.kind);
  }
};

template <>
struct std::hash<kube::GroupResource> {
  [[nodiscard]] std::size_t operator()(const kube::GroupResource& value) const noexcept {
    return kube::detail::hash_names(value.group, value.resource);
  }
};

template <>
struct std::hash<kube::GroupVersionKind> {
  [[nodiscard]] std::size_t operator()(const kube::GroupVersionKind& value) const noexcept {
    return kube::detail::hash_names(value.group, value.version, value.kind);
  }
};

template <>
struct std::hash<kube::GroupVersionResource> {
  [[nodiscard]] std::size_t operator()(const kube::GroupVersionResource& value) const noexcept {
    return kube::detail::hash_names(value.group, value.version, value.resource);
  }
};
