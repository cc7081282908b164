// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// The decoder's current position in the object: a linked list of stack frames, one per level,
/// which is only converted to text for an error.
struct PathFrame {
  const PathFrame* above = nullptr;
  std::string_view name = {};  ///< a field or map key; data() is null for a list element
  std::size_t index = 0;
  bool is_key = false;

  [[nodiscard]] std::string text() const;
};

/// Returns the path of `name` below `above`.
[[nodiscard]] std::string path_text(const PathFrame* above, std::string_view name);

}  // namespace kube::detail
