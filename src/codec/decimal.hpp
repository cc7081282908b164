// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace kube::detail {

/// The double nearest to a decimal number such as "-12.5e3", as Go's strconv.ParseFloat has it: zero if the number is
/// too small. Nothing if it is too large or malformed.
[[nodiscard]] std::optional<double> to_double(std::string_view digits) noexcept;

}  // namespace kube::detail
