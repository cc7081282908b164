// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// Where a decoder is in the object: one frame per level, on the stack, turned into text only when
/// something is wrong.
struct PathFrame {
  const PathFrame* above = nullptr;
  std::string_view name = {};  ///< a field or map key; data() is null for a list element
  std::size_t index = 0;
  bool is_key = false;

  [[nodiscard]] std::string text() const;
};

/// The path of `name` below `above`.
[[nodiscard]] std::string path_text(const PathFrame* above, std::string_view name);

}  // namespace kube::detail
