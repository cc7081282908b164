// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// A double as string() writes it: the shortest text that gives the same number, "1e+21", "+Inf", "NaN".
[[nodiscard]] std::string double_text(double number);

}  // namespace kube::testkit::cel
