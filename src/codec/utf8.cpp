// SPDX-License-Identifier: Apache-2.0
#include "codec/utf8.hpp"

#include <simdjson.h>

#include <cstdint>
#include <cstring>

namespace kube::detail {

bool is_utf8(std::string_view text) noexcept {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t high = 0;
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, at, 8);
    high |= chunk;
  }
  for (; left > 0; ++at, --left) high |= static_cast<unsigned char>(*at);
  if ((high & 0x8080808080808080ULL) == 0) return true;
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace kube::detail
