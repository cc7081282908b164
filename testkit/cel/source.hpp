// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// The place of an issue that is about the expression as a whole.
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

/// One thing that is wrong with an expression, and where: `offset` counts code points.
struct Issue {
  std::uint32_t offset = 0;
  std::string message;
};

/// Issues as the real server shows them, in the order of their places:
///
///     ERROR: <input>:1:6: undefined field 'x'
///      | self.x
///      | .....^
[[nodiscard]] std::string show_issues(std::string_view source, std::vector<Issue> issues);

/// How many code points a UTF-8 text has; a byte that belongs to none counts as one.
[[nodiscard]] std::size_t code_points(std::string_view text);
/// Where each code point begins, and the end of the text.
[[nodiscard]] std::vector<std::uint32_t> code_point_starts(std::string_view text);
/// Appends a code point as UTF-8.
void append_utf8(std::string& text, std::uint32_t code_point);
/// Whether `text` is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace kube::testkit::cel
