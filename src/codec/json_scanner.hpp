// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/path.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kube::detail {

/// Reads the tokens of one JSON text (RFC 8259) that is known to be valid UTF-8.
///
/// Every method that does not find the expected token throws CodecError with `path` and the byte
/// offset.
class JsonScanner {
 public:
  JsonScanner() = default;
  /// `offset` is the position of `text` in the whole document, for messages.
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
  /// Skips `c` if it is next.
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
  /// Skips `null` if it is next.
  bool consume_null(const PathFrame* path);

  /// Called after an opening quote. Skips the string and its closing quote, and sets `text` to the
  /// content between the quotes. Returns true if it contains escapes.
  bool string(std::string_view& text, const PathFrame* path);
  /// Resolves the escapes in `raw` into `to`, which has room for raw.size() bytes. Returns the
  /// size. Unpaired surrogates become U+FFFD.
  std::size_t unescape(std::string_view raw, char* to, const PathFrame* path) const;
  /// Returns a number as written. `is_integer` is set if it has neither fraction nor exponent.
  std::string_view number(bool& is_integer, const PathFrame* path);
  bool boolean(const PathFrame* path);
  /// Skips any value, after validating it.
  void skip_value(const PathFrame* path, int depth);

  [[noreturn]] void fail(const PathFrame* path, std::string_view problem) const;
  [[noreturn]] void fail_at(const char* at, const PathFrame* path, std::string_view problem) const;
  /// Fails with "expected X, found Y".
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
