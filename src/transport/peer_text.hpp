// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

/// Text that a peer sent.
namespace kube::detail {

/// Whether it may be a line of a head: no control character other than a tab, as nghttp2 has it. Each of them could
/// forge a line of a log, or drive a terminal.
[[nodiscard]] inline bool is_field_text(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](unsigned char letter) {
    return (letter < 0x20 && letter != '\t') || letter == 0x7f;
  });
}

/// Its beginning, fit for a message: all but printable ASCII is replaced by dots.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t kMax = 100;
  std::string result{text.substr(0, kMax)};
  std::replace_if(
      result.begin(), result.end(),
      [](unsigned char letter) { return letter < 0x20 || letter > 0x7e; }, '.');
  return result;
}

}  // namespace kube::detail
