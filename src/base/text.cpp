// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

namespace kube::detail {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Characters that no part of a URL needs to encode (RFC 3986).
bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool is_continuation(std::string_view text, std::size_t at) noexcept {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

/// The length of the UTF-8 character at the start of `text`, which is not empty; 0 if it is
/// malformed.
std::size_t character_length(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text, i)) return 0;
  }
  const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool is_surrogate = first == 0xED && second > 0x9F;
  const bool is_too_large = first == 0xF4 && second > 0x8F;
  return is_overlong || is_surrogate || is_too_large ? 0 : length;
}

/// True if the well-formed character moves the cursor, ends a line or starts an escape sequence.
bool is_control(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  if (character.size() == 2)
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return character == "\u2028" || character == "\u2029";
}

/// The length of the character at the start of a text, and whether it must be escaped.
struct Character {
  std::size_t length = 0;
  bool is_harmful = false;
};

Character next_character(std::string_view text, std::string_view kept) noexcept {
  const std::size_t length = character_length(text);
  if (length == 0) return {1, true};
  const bool is_kept = length == 1 && kept.find(text[0]) != std::string_view::npos;
  return {length, !is_kept && is_control(text.substr(0, length))};
}

}  // namespace

bool has_control(std::string_view text, std::string_view kept) noexcept {
  while (!text.empty()) {
    const Character character = next_character(text, kept);
    if (character.is_harmful) return true;
    text.remove_prefix(character.length);
  }
  return false;
}

std::string escape_control(std::string_view text, std::string_view kept) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = next_character(text, kept);
    for (const char c : text.substr(0, character.length)) {
      const auto byte = static_cast<unsigned char>(c);
      if (character.is_harmful) {
        out += {'\\', 'x', kHex[byte / 16U], kHex[byte % 16U]};
      } else {
        out += c;
      }
    }
    text.remove_prefix(character.length);
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

std::string percent_encode(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace kube::detail
