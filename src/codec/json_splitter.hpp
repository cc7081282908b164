// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kube::detail {

/// Finds where JSON values end in a stream that arrives in pieces, looking at each byte once.
///
/// It only counts brackets and skips strings; whether a value is well-formed is for its decoder to say.
class JsonExtent {
 public:
  /// Forgets everything; the next byte begins a value.
  void start() noexcept { *this = {}; }

  /// Looks at more bytes of the value. Returns how many belong to it and sets `complete` once it has
  /// ended. A number or literal ends before the next bracket, comma or white space.
  std::size_t advance(std::string_view bytes, bool& complete) noexcept;
  [[nodiscard]] int depth() const noexcept { return depth_; }

 private:
  enum class State : unsigned char { kStart, kInside, kString, kEscape, kScalar };
  State state_ = State::kStart;
  int depth_ = 0;
};

}  // namespace kube::detail
