// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

/// Names of API groups, their versions, and the kinds and resources in them.
///
/// The core group has the empty name. All types are plain values; the default order is by group,
/// then version, then kind or resource, as texts. For the order in which versions are preferred see
/// compare_versions().
namespace kube {

struct GroupVersionKind;
struct GroupVersionResource;

/// A group and one of its versions: what an object's apiVersion says.
struct GroupVersion {
  std::string group;
  std::string version;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && version.empty(); }
  [[nodiscard]] bool is_core() const noexcept { return group.empty(); }
  [[nodiscard]] GroupVersionKind with_kind(std::string_view kind) const;
  [[nodiscard]] GroupVersionResource with_resource(std::string_view resource) const;

  auto operator<=>(const GroupVersion&) const = default;
};

/// A kind in any version of its group.
struct GroupKind {
  std::string group;
  std::string kind;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && kind.empty(); }
  [[nodiscard]] GroupVersionKind with_version(std::string_view version) const;

  auto operator<=>(const GroupKind&) const = default;
};

/// A resource (the plural, lower-case name in URLs) in any version of its group.
struct GroupResource {
  std::string group;
  std::string resource;

  [[nodiscard]] bool empty() const noexcept { return group.empty() && resource.empty(); }
  [[nodiscard]] GroupVersionResource with_version(std::string_view version) const;

  auto operator<=>(const GroupResource&) const = default;
};

/// A kind in one version of its group: what apiVersion and kind of an object say together.
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

/// A resource in one version of its group: what a URL names.
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

/// Reads an apiVersion: "apps/v1", or "v1" for the core group. The empty text and "/" give the
/// empty value. Throws std::invalid_argument if there is more than one '/'.
[[nodiscard]] GroupVersion parse_group_version(std::string_view text);

/// Reads "Deployment.apps", or "Pod" for the core group. The first '.' divides; any text is
/// accepted.
[[nodiscard]] GroupKind parse_group_kind(std::string_view text);

/// Reads "deployments.apps", or "pods" for the core group. The first '.' divides; any text is
/// accepted.
[[nodiscard]] GroupResource parse_group_resource(std::string_view text);

/// "apps/v1", or "v1" for the core group: the text that parse_group_version() reads.
[[nodiscard]] std::string to_string(const GroupVersion& value);
/// "Deployment.apps", or "Pod" for the core group.
[[nodiscard]] std::string to_string(const GroupKind& value);
/// "deployments.apps", or "pods" for the core group.
[[nodiscard]] std::string to_string(const GroupResource& value);
/// For people: "apps/v1, Kind=Deployment", or "/v1, Kind=Pod" for the core group.
[[nodiscard]] std::string to_string(const GroupVersionKind& value);
/// For people: "apps/v1, Resource=deployments", or "/v1, Resource=pods" for the core group.
[[nodiscard]] std::string to_string(const GroupVersionResource& value);

/// Compares two versions by how much Kubernetes prefers them: a positive answer means that `a` is
/// preferred to `b`. Stable versions come before beta, beta before alpha, and within one stage the
/// larger numbers first: v2, v1, v2beta1, v1beta2, v1beta1, v1alpha1. Names of another form come
/// last, in alphabetical order.
[[nodiscard]] int compare_versions(std::string_view a, std::string_view b) noexcept;

/// Orders versions from the most to the least preferred, for sorting and ordered containers.
struct PreferredVersionFirst {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view a, std::string_view b) const noexcept {
    return compare_versions(a, b) > 0;
  }
};

namespace detail {
/// A hash of names that depends on their order and on where each of them ends.
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
