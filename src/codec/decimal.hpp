// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace kube::detail {

/// Returns the double nearest to a decimal number such as "-12.5e3", like Go's strconv.ParseFloat:
/// zero on underflow, nullopt if the number is too large or malformed.
[[nodiscard]] std::optional<double> to_double(std::string_view digits) noexcept;

}  // namespace kube::detail
