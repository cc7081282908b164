// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// A double as string() writes it: the shortest text that gives the same number, "1e+21", "+Inf", "NaN".
[[nodiscard]] std::string double_text(double number);
/// Text in double quotes, with the escapes that Go writes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace kube::testkit::cel
