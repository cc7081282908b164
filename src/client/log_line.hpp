// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// A longer line of a log is split into pieces.
inline constexpr std::size_t kLongestLogLine = std::size_t{1} << 20;

/// Moves the beginning of `bytes`, up to the next line break, to `line`, and removes the line
/// break. Returns true if the line is complete or has the maximum length.
[[nodiscard]] inline bool take_log_line(std::string_view& bytes, std::string& line) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::size_t taken = std::min(end, kLongestLogLine - line.size());
  line += bytes.substr(0, taken);
  bytes.remove_prefix(taken);
  if (bytes.starts_with('\n')) {
    bytes.remove_prefix(1);
    return true;
  }
  return line.size() == kLongestLogLine;
}

}  // namespace kube::detail
