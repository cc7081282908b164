// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

/// Handling of text received from a peer.
namespace kube::detail {

/// Returns whether `text` is valid in a header line: no control character but tab, like nghttp2.
/// Control characters could forge log lines or control a terminal.
[[nodiscard]] inline bool is_field_text(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](unsigned char letter) {
    return (letter < 0x20 && letter != '\t') || letter == 0x7f;
  });
}

/// Returns the beginning of `text` for a message. All but printable ASCII is replaced by dots.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t kMax = 100;
  std::string result{text.substr(0, kMax)};
  std::replace_if(
      result.begin(), result.end(),
      [](unsigned char letter) { return letter < 0x20 || letter > 0x7e; }, '.');
  return result;
}

}  // namespace kube::detail
