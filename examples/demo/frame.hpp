// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

enum class Style { kPlain, kDim, kBold, kGood, kBad, kTitle };

/// A styled piece of a line. ASCII only, so that a byte is a column.
struct Span {
  std::string text;
  Style style = Style::kPlain;

  friend bool operator==(const Span&, const Span&) = default;
};

/// One line of the screen.
class Line {
 public:
  Line() = default;
  Line(std::string text, Style style = Style::kPlain) { add(std::move(text), style); }  // NOLINT

  Line& add(std::string text, Style style = Style::kPlain);
  /// Appends text padded or truncated to `width` columns.
  Line& cell(std::string_view text, std::size_t width, Style style = Style::kPlain);

  [[nodiscard]] std::size_t width() const noexcept;
  [[nodiscard]] const std::vector<Span>& spans() const noexcept { return spans_; }
  /// Returns the line truncated to `columns`.
  [[nodiscard]] Line cut(std::size_t columns) const;

  friend bool operator==(const Line&, const Line&) = default;

 private:
  std::vector<Span> spans_;
};

/// The content of the screen, from top to bottom.
using Frame = std::vector<Line>;

/// Wraps `text` into lines of at most `columns`, broken at spaces.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

}  // namespace demo
