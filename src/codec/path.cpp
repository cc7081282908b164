// SPDX-License-Identifier: Apache-2.0
#include "codec/path.hpp"

#include <vector>

namespace kube::detail {

namespace {
// Keeps messages readable if a hostile document has a key of a megabyte, or hundreds of levels.
constexpr std::size_t kLongestName = 80;
constexpr std::size_t kMostLevels = 24;

std::string_view shortened(std::string_view name) { return name.substr(0, kLongestName); }
}  // namespace

std::string PathFrame::text() const {
  std::vector<const PathFrame*> frames;
  for (const PathFrame* frame = this; frame != nullptr; frame = frame->above) {
    frames.push_back(frame);
  }
  std::string path;
  for (std::size_t left = frames.size(); left > 0; --left) {
    const std::size_t level = frames.size() - left;
    if (frames.size() > kMostLevels && level == kMostLevels / 2) {
      path += "...";
      left = kMostLevels / 2;
    }
    const PathFrame& frame = *frames[left - 1];
    if (frame.is_key) {
      path += "['";
      path += shortened(frame.name);
      path += "']";
    } else if (frame.name.data() == nullptr) {
      path += '[' + std::to_string(frame.index) + ']';
    } else {
      if (!path.empty()) path += '.';
      path += shortened(frame.name);
    }
  }
  return path;
}

std::string path_text(const PathFrame* above, std::string_view name) {
  return PathFrame{above, name}.text();
}

}  // namespace kube::detail
