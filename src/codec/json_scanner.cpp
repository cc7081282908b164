// SPDX-License-Identifier: Apache-2.0
#include "codec/json_scanner.hpp"

#include <kube/codec/error.hpp>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>

namespace kube::detail {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the first quote, backslash or control character in [at, end), or end.
const char* find_special(const char* at, const char* end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (; end - at >= 16; at += 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(chunk, quote), _mm_cmpeq_epi8(chunk, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(chunk, last_control), chunk));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#endif
  while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Returns the code unit of the four digits after "\u"; negative if they are not hexadecimal.
int code_unit(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  int unit = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_digit(raw[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

char* append_utf8(char* to, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { *to++ = static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | (point >> 6));
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3f));
    put(0x80 | ((point >> 6) & 0x3f));
    put(0x80 | (point & 0x3f));
  }
  return to;
}

}  // namespace

void JsonScanner::fail_at(const char* at, const PathFrame* path, std::string_view problem) const {
  throw CodecError(path == nullptr ? std::string{} : path->text(), problem,
                   offset_ + static_cast<std::size_t>(at - start_));
}

void JsonScanner::fail(const PathFrame* path, std::string_view problem) const {
  fail_at(at_, path, problem);
}

void JsonScanner::fail_expected(const PathFrame* path, std::string_view expected) const {
  const std::string_view rest{at_, static_cast<std::size_t>(end_ - at_)};
  std::string found;
  if (done()) {
    found = "end of input";
  } else if (*at_ == '"') {
    found = "string";
  } else if (*at_ == '{') {
    found = "object";
  } else if (*at_ == '[') {
    found = "array";
  } else if (rest.starts_with("true") || rest.starts_with("false")) {
    found = "boolean";
  } else if (rest.starts_with("null")) {
    found = "null";
  } else if (*at_ == '-' || is_digit(*at_)) {
    found = "number";
  } else if (static_cast<unsigned char>(*at_) > 0x20 && static_cast<unsigned char>(*at_) < 0x7f) {
    found = std::string{"'"} + *at_ + '\'';
  } else {
    found = "byte " + std::to_string(static_cast<unsigned char>(*at_));
  }
  fail(path, "expected " + std::string{expected} + ", found " + found);
}

void JsonScanner::literal(std::string_view word, const PathFrame* path) {
  if (std::string_view{at_, static_cast<std::size_t>(end_ - at_)}.substr(0, word.size()) != word) {
    fail(path, "malformed literal, expected " + std::string{word});
  }
  at_ += word.size();
}

bool JsonScanner::consume_null(const PathFrame* path) {
  if (peek() != 'n') return false;
  literal("null", path);
  return true;
}

bool JsonScanner::boolean(const PathFrame* path) {
  if (peek() == 't') {
    literal("true", path);
    return true;
  }
  if (peek() != 'f') fail_expected(path, "boolean");
  literal("false", path);
  return false;
}

bool JsonScanner::string(std::string_view& text, const PathFrame* path) {
  const char* const first = at_;
  bool has_escapes = false;
  for (;;) {
    at_ = find_special(at_, end_);
    if (at_ == end_) fail_at(first, path, "unterminated string");
    if (*at_ == '"') break;
    if (*at_ != '\\') fail(path, "control character in a string");
    has_escapes = true;
    if (end_ - at_ < 2) fail_at(first, path, "unterminated string");
    at_ += 2;
  }
  text = {first, static_cast<std::size_t>(at_ - first)};
  ++at_;
  return has_escapes;
}

std::size_t JsonScanner::unescape(std::string_view raw, char* to, const PathFrame* path) const {
  char* const first = to;
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      *to++ = raw[i++];
      continue;
    }
    const char escape = raw[i + 1];
    i += 2;
    switch (escape) {
      case '"':
      case '\\':
      case '/':
        *to++ = escape;
        break;
      case 'b':
        *to++ = '\b';
        break;
      case 'f':
        *to++ = '\f';
        break;
      case 'n':
        *to++ = '\n';
        break;
      case 'r':
        *to++ = '\r';
        break;
      case 't':
        *to++ = '\t';
        break;
      case 'u': {
        const int unit = code_unit(raw, i);
        if (unit < 0) fail_at(raw.data() + i, path, "malformed \\u escape");
        i += 4;
        auto point = static_cast<std::uint32_t>(unit);
        if (point >= 0xd800 && point < 0xdc00 && raw.substr(i, 2) == "\\u") {
          const int low = code_unit(raw, i + 2);
          if (low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (static_cast<std::uint32_t>(low) - 0xdc00);
            i += 6;
          }
        }
        if (point >= 0xd800 && point < 0xe000) point = 0xfffd;
        to = append_utf8(to, point);
        break;
      }
      default:
        fail_at(raw.data() + i - 1, path, "unknown escape in a string");
    }
  }
  return static_cast<std::size_t>(to - first);
}

std::string_view JsonScanner::number(bool& is_integer, const PathFrame* path) {
  const char* const first = at_;
  is_integer = true;
  consume('-');
  if (!is_digit(peek())) {
    at_ = first;
    fail_expected(path, "number");
  }
  if (!consume('0')) {
    while (is_digit(peek())) ++at_;
  }
  if (consume('.')) {
    is_integer = false;
    if (!is_digit(peek())) fail(path, "malformed number");
    while (is_digit(peek())) ++at_;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    is_integer = false;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!is_digit(peek())) fail(path, "malformed number");
    while (is_digit(peek())) ++at_;
  }
  if (is_digit(peek())) fail(path, "malformed number");  // a leading zero
  return {first, static_cast<std::size_t>(at_ - first)};
}

void JsonScanner::skip_value(const PathFrame* path, int depth) {
  if (depth > max_depth_) fail(path, "nested too deeply");
  white_space();
  std::string_view text;
  switch (peek()) {
    case '"': {
      ++at_;
      if (string(text, path)) {
        // Validates the escapes, so that skipped text is checked like kept text.
        std::string scratch(text.size(), '\0');
        unescape(text, scratch.data(), path);
      }
      break;
    }
    case '{':
      ++at_;
      white_space();
      if (consume('}')) break;
      do {
        expect('"', "key in quotes", path);
        if (string(text, path)) {
          std::string scratch(text.size(), '\0');
          unescape(text, scratch.data(), path);
        }
        expect(':', "':'", path);
        skip_value(path, depth + 1);
        white_space();
      } while (consume(','));
      expect('}', "',' or '}'", path);
      break;
    case '[':
      ++at_;
      white_space();
      if (consume(']')) break;
      do {
        skip_value(path, depth + 1);
        white_space();
      } while (consume(','));
      expect(']', "',' or ']'", path);
      break;
    case 't':
    case 'f':
      boolean(path);
      break;
    case 'n':
      literal("null", path);
      break;
    default: {
      bool is_integer = false;
      if (peek() != '-' && !is_digit(peek())) fail_expected(path, "value");
      number(is_integer, path);
      break;
    }
  }
}

}  // namespace kube::detail
