// SPDX-License-Identifier: Apache-2.0
#include "frame.hpp"

#include <algorithm>
#include <utility>

namespace demo {
namespace {

/// Removes control characters: names and messages are untrusted and must not reach the terminal as
/// escape sequences.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

Line& Line::add(std::string text, Style style) {
  if (!text.empty()) spans_.push_back({printable(std::move(text)), style});
  return *this;
}

Line& Line::cell(std::string_view text, std::size_t width, Style style) {
  std::string content{text.substr(0, width)};
  content.resize(width, ' ');
  return add(std::move(content), style);
}

std::size_t Line::width() const noexcept {
  std::size_t sum = 0;
  for (const Span& span : spans_) sum += span.text.size();
  return sum;
}

Line Line::cut(std::size_t columns) const {
  Line line;
  for (const Span& span : spans_) {
    const std::size_t fits = std::min(columns, span.text.size());
    line.add(span.text.substr(0, fits), span.style);
    columns -= fits;
  }
  return line;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (text.size() > columns) {
    const std::size_t space = text.rfind(' ', columns);
    const std::size_t end = space == std::string_view::npos || space == 0 ? columns : space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace demo
