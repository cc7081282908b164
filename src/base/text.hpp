// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

/// ASCII only, and whatever the locale is: names, headers and media types are like that.
namespace kube::detail {

[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

[[nodiscard]] inline bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

/// What HTTP calls white space around a value.
inline constexpr std::string_view kBlank = " \t";

/// Without `space` at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text,
                                              std::string_view space = " \t\r\n\v\f") noexcept {
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// Decodes %XX, and '+' as a space if asked for; nothing if it is malformed.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

/// `text` as it may be written to a terminal or a log: control characters (C0 but those in `kept`, DEL, C1), line
/// separators of Unicode and bytes that are not UTF-8 become \xNN. So no text from a file or from the network can
/// forge a line or send an escape sequence.
[[nodiscard]] std::string escape_control(std::string_view text, std::string_view kept = "\t");
/// Whether escape_control() would change anything.
[[nodiscard]] bool has_control(std::string_view text, std::string_view kept = "\t") noexcept;

}  // namespace kube::detail
