// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace kube {

/// Compares two resourceVersions of one resource. Versions are opaque; those that are decimal numbers (all
/// that API servers write) are ordered, others are unordered unless equal.
[[nodiscard]] std::partial_ordering compare_resource_versions(std::string_view a,
                                                              std::string_view b) noexcept;

/// The version for a gauge: its last 15 digits, which a double holds exactly; 0 if it is empty, nothing
/// if it is no number.
[[nodiscard]] std::optional<double> resource_version_gauge(std::string_view version) noexcept;

}  // namespace kube
