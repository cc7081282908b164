// SPDX-License-Identifier: Apache-2.0
#include "kube/api/group_version.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "kube/api/validation.hpp"

namespace kube {
namespace {

enum class Stage : std::uint8_t { kAlpha, kBeta, kStable };

/// A version of the form v1, v1beta2 or v1alpha3, ordered by preference.
struct KubeVersion {
  Stage stage = Stage::kStable;
  std::int64_t major = 0;
  std::int64_t minor = 0;

  auto operator<=>(const KubeVersion&) const = default;
};

/// Removes a number from the front of `text`.
std::optional<std::int64_t> take_number(std::string_view& text) noexcept {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return number;
}

std::optional<KubeVersion> parse_kube_version(std::string_view text) noexcept {
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  KubeVersion version;
  const std::optional<std::int64_t> major = take_number(text);
  if (!major) return std::nullopt;
  version.major = *major;
  if (text.empty()) return version;
  for (const auto& [name, stage] :
       {std::pair<std::string_view, Stage>{"alpha", Stage::kAlpha}, {"beta", Stage::kBeta}}) {
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    version.stage = stage;
    const std::optional<std::int64_t> minor = take_number(text);
    if (!minor || !text.empty()) return std::nullopt;
    version.minor = *minor;
    return version;
  }
  return std::nullopt;
}

/// Splits at the first '.': the text before it, and the group after it.
std::pair<std::string_view, std::string_view> split_at_dot(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {text, {}};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

std::string with_group(std::string_view name, std::string_view group) {
  return group.empty() ? std::string(name) : fmt::format("{}.{}", name, group);
}

}  // namespace

GroupVersionKind GroupVersion::with_kind(std::string_view kind) const {
  return {group, version, std::string(kind)};
}

GroupVersionResource GroupVersion::with_resource(std::string_view resource) const {
  return {group, version, std::string(resource)};
}

GroupVersionKind GroupKind::with_version(std::string_view version) const {
  return {group, std::string(version), kind};
}

GroupVersionResource GroupResource::with_version(std::string_view version) const {
  return {group, std::string(version), resource};
}

GroupVersion parse_group_version(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {{}, std::string(text)};
  const std::string_view version = text.substr(slash + 1);
  if (version.find('/') != std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("{} is not an API version: it has more than one '/'", detail::quoted(text)));
  }
  return {std::string(text.substr(0, slash)), std::string(version)};
}

GroupKind parse_group_kind(std::string_view text) {
  const auto [kind, group] = split_at_dot(text);
  return {std::string(group), std::string(kind)};
}

GroupResource parse_group_resource(std::string_view text) {
  const auto [resource, group] = split_at_dot(text);
  return {std::string(group), std::string(resource)};
}

std::string to_string(const GroupVersion& value) {
  return value.is_core() ? value.version : fmt::format("{}/{}", value.group, value.version);
}

std::string to_string(const GroupKind& value) { return with_group(value.kind, value.group); }

std::string to_string(const GroupResource& value) {
  return with_group(value.resource, value.group);
}

std::string to_string(const GroupVersionKind& value) {
  return fmt::format("{}/{}, Kind={}", value.group, value.version, value.kind);
}

std::string to_string(const GroupVersionResource& value) {
  return fmt::format("{}/{}, Resource={}", value.group, value.version, value.resource);
}

int compare_versions(std::string_view a, std::string_view b) noexcept {
  const std::optional<KubeVersion> x = parse_kube_version(a);
  const std::optional<KubeVersion> y = parse_kube_version(b);
  if (x && y) {
    const std::strong_ordering order = *x <=> *y;
    return static_cast<int>(order > 0) - static_cast<int>(order < 0);
  }
  if (x || y) return x ? 1 : -1;
  const int order = b.compare(a);
  return static_cast<int>(order > 0) - static_cast<int>(order < 0);
}

std::size_t detail::hash_names(std::string_view a, std::string_view b,
                               std::string_view c) noexcept {
  const std::hash<std::string_view> hash;
  std::size_t result = hash(a);
  for (const std::string_view name : {b, c}) {
    // The odd multiplier mixes the bits of the previous names, and makes the result depend on the
    // order.
    result = result * 0x9E3779B97F4A7C15U + hash(name);
  }
  return result;
}

}  // namespace kube
