// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace kube {

/// Compares two resourceVersions of one resource. Versions are opaque. Decimal numbers (which all
/// API servers use) are ordered; other versions are unordered unless equal.
[[nodiscard]] std::partial_ordering compare_resource_versions(std::string_view a,
                                                              std::string_view b) noexcept;

/// Returns the version as a gauge: its last 15 digits, which a double holds exactly. 0 if it is
/// empty, nothing if it is not a number.
[[nodiscard]] std::optional<double> resource_version_gauge(std::string_view version) noexcept;

}  // namespace kube
