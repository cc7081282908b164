// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// Formats a double like string(): the shortest text that reads back as the same number, "1e+21",
/// "+Inf", "NaN".
[[nodiscard]] std::string double_text(double number);

}  // namespace kube::testkit::cel
