// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/path.hpp>

#include <vector>

namespace kube::detail {

namespace {
// Messages stay readable when a hostile document has a megabyte for a key.
constexpr std::size_t kLongestName = 80;

std::string_view shortened(std::string_view name) { return name.substr(0, kLongestName); }
}  // namespace

std::string PathFrame::text() const {
  std::vector<const PathFrame*> frames;
  for (const PathFrame* frame = this; frame != nullptr; frame = frame->above) {
    frames.push_back(frame);
  }
  std::string path;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    const PathFrame& frame = **it;
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
