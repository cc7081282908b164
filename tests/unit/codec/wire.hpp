// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

/// Hand-written protobuf, for messages that no encoder would produce.
namespace kube::test::wire {

inline std::string varint(std::uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7f) | 0x80);
  out += static_cast<char>(number);
  return out;
}

inline std::string tag(std::uint32_t number, std::uint32_t wire_type) {
  return varint((std::uint64_t{number} << 3) | wire_type);
}

/// Encodes a field with text, bytes or a message.
inline std::string bytes(std::uint32_t number, std::string_view payload) {
  return tag(number, 2) + varint(payload.size()) + std::string{payload};
}

inline std::string integer(std::uint32_t number, std::int64_t value) {
  return tag(number, 0) + varint(static_cast<std::uint64_t>(value));
}

inline std::string fixed64(std::uint32_t number, double value) {
  std::string payload(8, '\0');
  std::memcpy(payload.data(), &value, 8);
  return tag(number, 1) + payload;
}

inline std::string fixed32(std::uint32_t number) { return tag(number, 5) + "1234"; }

inline std::string group(std::uint32_t number, std::string_view content) {
  return tag(number, 3) + std::string{content} + tag(number, 4);
}

/// Encodes an entry of a map.
inline std::string entry(std::uint32_t number, std::string_view key, std::string_view value) {
  return bytes(number, bytes(1, key) + bytes(2, value));
}

}  // namespace kube::test::wire
