// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kube::gen {
namespace {

constexpr bool is_printable(char c) { return c >= 0x20 && c < 0x7f; }
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Typographic characters (UTF-8) that are common in descriptions, and their replacements.
constexpr std::array kTypographic = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"\xe2\x80\x98", "'"},    // left single quotation mark
    {"\xe2\x80\x99", "'"},    // right single quotation mark
    {"\xe2\x80\x9c", "\""},   // left double quotation mark
    {"\xe2\x80\x9d", "\""},   // right double quotation mark
    {"\xe2\x80\x93", "-"},    // en dash
    {"\xe2\x80\x94", "-"},    // em dash
    {"\xe2\x80\xa6", "..."},  // ellipsis
    {"\xc2\xa0", " "},        // no-break space
});

/// Returns the words of the first paragraph as printable ASCII.
std::vector<std::string> words_of_first_paragraph(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  int newlines = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_space(c)) {
      finish();
      newlines += c == '\n' ? 1 : 0;
      if (newlines == 2 && !words.empty()) return words;
      continue;
    }
    newlines = 0;
    if (is_printable(c)) {
      word += c == '?' && word.ends_with('?') ? '.' : c;  // prevents trigraphs
      continue;
    }
    bool known = false;
    for (const auto& [from, to] : kTypographic) {
      if (text.substr(i).starts_with(from)) {
        word += to;
        i += from.size() - 1;
        known = true;
        break;
      }
    }
    // One mark per other character: continuation bytes are dropped.
    const bool is_continuation = (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
    if (!known && !is_continuation) word += '.';
  }
  finish();
  return words;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      literal += '\\';
      literal += c;
    } else if (c == '?' && literal.ends_with('?')) {
      literal += "\\?";
    } else if (c == '\n') {
      literal += "\\n";
    } else if (is_printable(c)) {
      literal += c;
    } else {
      // Octal: unlike a hexadecimal escape, it ends after three digits.
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return literal += '"';
}

std::string comment_text(std::string_view text, std::size_t limit) {
  std::string result;
  bool is_cut = false;
  for (const char c : text) {
    if (result.size() >= limit) {
      is_cut = true;
      break;
    }
    if (c == '\n') {
      result += "\\n";
    } else if (c == '?' && result.ends_with('?')) {
      result += "\\?";
    } else if (is_printable(c)) {
      result += c;
    } else {
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  if (is_cut) result += "...";
  // A backslash at the end of a line, even before spaces, would continue the comment on the next
  // line.
  if (result.find_last_not_of(' ') != std::string::npos &&
      result[result.find_last_not_of(' ')] == '\\') {
    result += '.';
  }
  return result;
}

std::vector<std::string> comment_lines(std::string_view text, std::size_t width) {
  constexpr std::size_t kMaxLines = 6;
  std::vector<std::string> lines;
  for (std::string& word : words_of_first_paragraph(text)) {
    if (word.size() > width) word.resize(width);
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= width) {
      lines.back() += ' ' + word;
      continue;
    }
    if (lines.size() == kMaxLines) {
      lines.back() += " ...";
      break;
    }
    lines.push_back(std::move(word));
  }
  for (std::string& line : lines) {
    if (line.ends_with('\\')) line += '.';
  }
  return lines;
}

std::string printable(std::string_view text) {
  constexpr std::size_t kLimit = 80;
  std::string result;
  for (const char c : text.substr(0, kLimit)) {
    if (is_printable(c)) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > kLimit) result += "...";
  return result;
}

std::string fill(std::string_view head, const std::vector<std::string>& items,
                 std::string_view tail, std::size_t indent) {
  std::string result{head};
  std::size_t column = head.size() - (head.rfind('\n') + 1);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_last = i + 1 == items.size();
    const std::size_t need = items[i].size() + (is_last ? tail.find_last_not_of('\n') + 1 : 1);
    const std::size_t space = i == 0 ? 0 : 1;
    if (i > 0 && column + space + need > kLineWidth) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (space > 0) {
      result += ' ';
      ++column;
    }
    result += items[i];
    column += items[i].size();
    if (!is_last) {
      result += ',';
      ++column;
    }
  }
  return result += tail;
}

}  // namespace kube::gen
