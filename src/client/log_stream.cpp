// SPDX-License-Identifier: Apache-2.0
#include <kube/client/log_stream.hpp>

#include "log_line.hpp"

namespace kube {

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
    if (detail::take_log_line(rest_, line)) return line;
  }
}

}  // namespace kube
