// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace kube::detail {

/// Finds the ends of JSON values in a stream that arrives in chunks, inspecting each byte once.
///
/// It only counts brackets and skips strings; the decoder of a value validates it.
class JsonExtent {
 public:
  /// Resets the state; the next byte starts a value.
  void start() noexcept { *this = {}; }

  /// Inspects more bytes of the value. Returns how many belong to it, and sets `complete` once it
  /// has ended. A number or literal ends before the next bracket, comma or white space.
  std::size_t advance(std::string_view bytes, bool& complete) noexcept;
  [[nodiscard]] int depth() const noexcept { return depth_; }

 private:
  enum class State : unsigned char { kStart, kInside, kString, kEscape, kScalar };
  State state_ = State::kStart;
  int depth_ = 0;
};

}  // namespace kube::detail
