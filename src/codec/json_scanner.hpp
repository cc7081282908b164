// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/path.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube::detail {

/// Reads the tokens of one JSON text (RFC 8259), which is known to be valid UTF-8.
///
/// Every method that finds something else than it wants throws CodecError with `path` and the byte.
class JsonScanner {
 public:
  JsonScanner() = default;
  /// `offset` is where `text` starts in the whole document, for messages.
  JsonScanner(std::string_view text, std::size_t offset, int max_depth)
      : start_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        offset_(offset),
        max_depth_(max_depth) {}

  [[nodiscard]] const char* at() const noexcept { return at_; }
  [[nodiscard]] const char* end() const noexcept { return end_; }
  [[nodiscard]] bool done() const noexcept { return at_ >= end_; }
  [[nodiscard]] char peek() const noexcept { return at_ < end_ ? *at_ : '\0'; }
  [[nodiscard]] std::uint32_t position() const noexcept {
    return static_cast<std::uint32_t>(at_ - start_);
  }
  void move_by(std::size_t bytes) noexcept { at_ += bytes; }

  void white_space() noexcept {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  /// Moves behind `c` if it is next.
  bool consume(char c) noexcept {
    if (at_ < end_ && *at_ == c) {
      ++at_;
      return true;
    }
    return false;
  }
  void expect(char c, const char* what, const PathFrame* path) {
    white_space();
    if (!consume(c)) fail_expected(path, what);
  }
  /// Moves behind `null` if it is next.
  bool consume_null(const PathFrame* path);

  /// Behind an opening quote: finds the end of the string and moves behind the closing quote. `text` is
  /// what stands between the quotes; true if it contains escapes.
  bool string(std::string_view& text, const PathFrame* path);
  /// Resolves the escapes in `raw` into `to`, which has room for raw.size() bytes; returns the size.
  /// Unpaired surrogates become U+FFFD.
  std::size_t unescape(std::string_view raw, char* to, const PathFrame* path) const;
  /// A number as it is written; `is_integer` if it has neither fraction nor exponent.
  std::string_view number(bool& is_integer, const PathFrame* path);
  bool boolean(const PathFrame* path);
  /// Any value, checked and ignored.
  void skip_value(const PathFrame* path, int depth);

  [[noreturn]] void fail(const PathFrame* path, std::string_view problem) const;
  [[noreturn]] void fail_at(const char* at, const PathFrame* path, std::string_view problem) const;
  /// "expected X, found Y"
  [[noreturn]] void fail_expected(const PathFrame* path, std::string_view expected) const;

 private:
  void literal(std::string_view word, const PathFrame* path);

  const char* start_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::size_t offset_ = 0;
  int max_depth_ = 0;
};

}  // namespace kube::detail
