// SPDX-License-Identifier: Apache-2.0
#include <kube/client/log_stream.hpp>

#include <algorithm>

namespace kube {

namespace {
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
}

std::string_view LogStream::read(std::stop_token stop) {
  if (!rest_.empty()) return std::exchange(rest_, {});
  return stream_->read(std::move(stop));
}

std::optional<std::string> LogStream::next_line(std::stop_token stop) {
  std::string line;
  bool has_begun = false;
  while (true) {
    if (rest_.empty()) rest_ = stream_->read(stop);
    if (rest_.empty()) return has_begun ? std::optional{std::move(line)} : std::nullopt;
    has_begun = true;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::size_t taken = std::min(end, kLongestLine - line.size());
    line += rest_.substr(0, taken);
    rest_.remove_prefix(taken);
    if (rest_.starts_with('\n')) {
      rest_.remove_prefix(1);
      return line;
    }
    if (line.size() == kLongestLine) return line;
  }
}

}  // namespace kube
