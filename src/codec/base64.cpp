// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/base64.hpp>

#include <array>
#include <cstdint>

namespace kube {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

}  // namespace

void base64_append(std::string& out, std::string_view bytes) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
  };
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t bits = (byte(i) << 16) | (byte(i + 1) << 8) | byte(i + 2);
    const std::size_t left = bytes.size() - i;
    out += kAlphabet[bits >> 18];
    out += kAlphabet[(bits >> 12) & 63];
    out += left > 1 ? kAlphabet[(bits >> 6) & 63] : '=';
    out += left > 2 ? kAlphabet[bits & 63] : '=';
  }
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  base64_append(out, bytes);
  return out;
}

std::optional<std::size_t> base64_decode(std::string_view text, char* to) {
  char* const first = to;
  std::uint32_t bits = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value{kValues[static_cast<unsigned char>(c)]};  // -1 if it is not a base64 digit
    if (value < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    if (++digits == 4) {
      *to++ = static_cast<char>(bits >> 16);
      *to++ = static_cast<char>(bits >> 8);
      *to++ = static_cast<char>(bits);
      digits = 0;
      bits = 0;
    }
  }
  if ((digits + padding) % 4 != 0 || digits == 1 || padding > 2) return std::nullopt;
  if (digits == 2) *to++ = static_cast<char>(bits >> 4);
  if (digits == 3) {
    *to++ = static_cast<char>(bits >> 10);
    *to++ = static_cast<char>(bits >> 2);
  }
  return static_cast<std::size_t>(to - first);
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out(base64_capacity(text), '\0');
  const std::optional<std::size_t> size = base64_decode(text, out.data());
  if (!size) return std::nullopt;
  out.resize(*size);
  return out;
}

}  // namespace kube
