// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

/// Text helpers. ASCII only and independent of the locale, as needed for names, headers and media
/// types.
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

/// Optional white space around a value in HTTP.
inline constexpr std::string_view kBlank = " \t";

/// Returns `text` without the characters of `space` at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text,
                                              std::string_view space = " \t\r\n\v\f") noexcept {
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// Decodes %XX and, if asked for, '+' as a space. Returns nullopt if the text is malformed.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);
/// Percent-encodes `text`, except letters, digits, `-._~` and the characters in `kept`.
[[nodiscard]] std::string percent_encode(std::string_view text, std::string_view kept = {});

/// Escapes `text` for a terminal or a log: control characters (C0 except those in `kept`, DEL, C1),
/// line separators of Unicode and bytes that are not UTF-8 become \xNN. Text from a file or the
/// network can then neither forge a line nor send an escape sequence.
[[nodiscard]] std::string escape_control(std::string_view text, std::string_view kept = "\t");
/// True if escape_control() would change anything.
[[nodiscard]] bool has_control(std::string_view text, std::string_view kept = "\t") noexcept;

}  // namespace kube::detail
