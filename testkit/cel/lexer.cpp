// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/lexer.hpp"

#include "testkit/cel/characters.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace kube::testkit::cel {

namespace {

/// Returns whether `c` can begin an identifier.
bool is_word(char c) { return is_letter(c) || c == '_'; }

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<Issue>& issues)
      : source_(source), issues_(issues), starts_(code_point_starts(source)) {}

  std::vector<Token> run() {
    while (skip_blank(), at_ < source_.size()) {
      const std::size_t begin = at_;
      const TokenKind kind = next();
      if (at_ == begin) {
        unknown();
      } else {
        tokens_.push_back({kind, code_point(begin), source_.substr(begin, at_ - begin)});
      }
    }
    tokens_.push_back({TokenKind::kEnd, code_point(source_.size()), "<EOF>"});
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  std::uint32_t code_point(std::size_t byte) {
    while (starts_[index_] < byte) ++index_;
    return static_cast<std::uint32_t>(index_);
  }

  void skip_blank() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < source_.size() && source_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  /// Handles text that begins no token.
  void unknown() {
    const std::uint32_t place = code_point(at_);
    std::size_t end = starts_[place + 1];
    // An unterminated string is reported as one unknown token.
    const char c = source_[at_];
    if (c == '"' || c == '\'' || c == '`') {
      while (end < source_.size() && source_[end] != '\n') ++end;
    }
    const std::string_view text = source_.substr(at_, end - at_);
    issues_.push_back({place, fmt::format("Syntax error: token recognition error at: '{}'", text)});
    at_ = end;
  }

  TokenKind next() {
    if (const auto kind = string_literal()) return *kind;
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_word(c)) {
      const std::size_t begin = at_;
      while (is_word(peek()) || is_digit(peek())) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      return word == "in" || word == "true" || word == "false" || word == "null"
                 ? TokenKind::kSymbol
                 : TokenKind::kIdentifier;
    }
    if (c == '`') return escaped_identifier();
    static constexpr std::array kPairs{"==", "!=", "<=", ">=", "&&", "||"};
    for (const std::string_view pair : kPairs) {
      if (source_.substr(at_, 2) == pair) {
        at_ += 2;
        return TokenKind::kSymbol;
      }
    }
    if (std::string_view{"<>[]{}().,-!?:+*/%"}.find(c) != std::string_view::npos && c != '\0')
      ++at_;
    return TokenKind::kSymbol;
  }

  TokenKind escaped_identifier() {
    std::size_t end = at_ + 1;
    const auto fits = [](char c) {
      return is_word(c) || is_digit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
    };
    while (end < source_.size() && fits(source_[end])) ++end;
    if (end < source_.size() && source_[end] == '`' && end > at_ + 1) at_ = end + 1;
    return TokenKind::kEscapedIdentifier;
  }

  TokenKind number() {
    if (peek() == '0' && peek(1) == 'x' && hex_digit(peek(2)) >= 0) {
      at_ += 2;
      while (hex_digit(peek()) >= 0) ++at_;
      return unsigned_or(TokenKind::kInt);
    }
    bool whole = true;
    while (is_digit(peek())) ++at_;
    if (peek() == '.' && is_digit(peek(1))) {
      whole = false;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        whole = false;
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    return whole ? unsigned_or(TokenKind::kInt) : TokenKind::kDouble;
  }

  TokenKind unsigned_or(TokenKind kind) {
    if (peek() != 'u' && peek() != 'U') return kind;
    ++at_;
    return TokenKind::kUint;
  }

  /// Reads a quoted literal with its prefixes. Returns nothing, and consumes nothing, if there is
  /// none or it is not terminated.
  std::optional<TokenKind> string_literal() {
    std::size_t quote = 0;
    bool bytes = false;
    bool raw = false;
    if (peek() == 'b' || peek() == 'B') {
      bytes = true;
      ++quote;
    }
    if (peek(quote) == 'r' || peek(quote) == 'R') {
      raw = true;
      ++quote;
    }
    const char mark = peek(quote);
    if (mark != '"' && mark != '\'') return std::nullopt;
    const bool triple = peek(quote + 1) == mark && peek(quote + 2) == mark;
    const std::size_t end = end_of_string(at_ + quote + (triple ? 3 : 1), mark, triple, raw);
    if (end == 0 && triple) {
      // Two quotes are an empty string, regardless of the next character.
      at_ += quote + 2;
    } else if (end == 0) {
      return quote == 0 ? std::optional{TokenKind::kString} : std::nullopt;
    } else {
      at_ = end;
    }
    return bytes ? TokenKind::kBytes : TokenKind::kString;
  }

  /// Returns the position after the closing quotes, or 0.
  std::size_t end_of_string(std::size_t at, char mark, bool triple, bool raw) const {
    for (; at < source_.size(); ++at) {
      const char c = source_[at];
      if (c == '\\' && !raw) {
        ++at;
        continue;
      }
      if (!triple && (c == '\n' || c == '\r')) return 0;
      if (c != mark) continue;
      if (!triple) return at + 1;
      if (source_.substr(at, 3) == std::string(3, mark)) return at + 3;
    }
    return 0;
  }

  std::string_view source_;
  std::vector<Issue>& issues_;
  std::vector<std::uint32_t> starts_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t index_ = 0;
};

/// Reads one escape sequence. `at` is the position after the backslash and is advanced.
bool unescape(std::string_view text, std::size_t& at, bool is_bytes, std::string& content) {
  static constexpr std::string_view kLetters = "abfnrtv\"'\\?`";
  static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\"'\\?`";
  if (at >= text.size()) return false;
  const char c = text[at++];
  if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
    content += kMeanings[known];
    return true;
  }
  const auto number = [&](std::size_t digits, unsigned base, std::uint32_t& found) {
    for (std::size_t i = 0; i < digits; ++i, ++at) {
      const int digit = at < text.size() ? hex_digit(text[at]) : -1;
      if (digit < 0 || static_cast<unsigned>(digit) >= base) return false;
      found = found * base + static_cast<unsigned>(digit);
    }
    return true;
  };
  std::uint32_t code = 0;
  if (c >= '0' && c <= '3') {
    --at;
    if (!number(3, 8, code)) return false;
  } else if (c == 'x' || c == 'X') {
    if (!number(2, 16, code)) return false;
  } else if ((c == 'u' || c == 'U') && !is_bytes) {
    if (!number(c == 'u' ? 4 : 8, 16, code)) return false;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  } else {
    return false;
  }
  if (is_bytes) {
    content += static_cast<char>(code);
  } else {
    append_utf8(content, code);
  }
  return true;
}

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues) {
  return Lexer{source, issues}.run();
}

bool unquote(std::string_view literal, bool is_bytes, std::string& content) {
  if (is_bytes) literal.remove_prefix(1);
  const bool raw = literal.starts_with('r') || literal.starts_with('R');
  if (raw) literal.remove_prefix(1);
  const std::size_t quotes =
      literal.size() >= 6 && literal[0] == literal[1] && literal[1] == literal[2] ? 3 : 1;
  literal = literal.substr(quotes, literal.size() - 2 * quotes);
  for (std::size_t at = 0; at < literal.size();) {
    const char c = literal[at++];
    if (c == '\\' && !raw) {
      if (!unescape(literal, at, is_bytes, content)) return false;
    } else if (c == '\r') {
      // All line breaks are normalised to '
      // '.
      content += '\n';
      if (at < literal.size() && literal[at] == '\n') ++at;
    } else {
      content += c;
    }
  }
  return true;
}

}  // namespace kube::testkit::cel
