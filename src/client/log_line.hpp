// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// A longer line of a log is handed out in pieces.
inline constexpr std::size_t kLongestLogLine = std::size_t{1} << 20;

/// Moves the beginning of `bytes` to `line`, up to and without the next line break. True if the line is complete, or as
/// long as it may be.
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
