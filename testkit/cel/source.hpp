// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::testkit::cel {

/// The offset of an issue that concerns the whole expression.
inline constexpr std::uint32_t kNowhere = UINT32_MAX;

/// A compilation error and its location: `offset` counts code points.
struct Issue {
  std::uint32_t offset = 0;
  std::string message;
};

/// Formats issues as the real server shows them, sorted by offset:
///
///     ERROR: <input>:1:6: undefined field 'x'
///      | self.x
///      | .....^
[[nodiscard]] std::string show_issues(std::string_view source, std::vector<Issue> issues);

/// Counts the code points of UTF-8 text. Each invalid byte counts as one.
[[nodiscard]] std::size_t code_points(std::string_view text);
/// Returns the byte offset of each code point, followed by the size of the text.
[[nodiscard]] std::vector<std::uint32_t> code_point_starts(std::string_view text);
/// Appends a code point as UTF-8.
void append_utf8(std::string& text, std::uint32_t code_point);
/// Returns whether `text` is valid UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace kube::testkit::cel
