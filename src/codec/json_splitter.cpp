// SPDX-License-Identifier: Apache-2.0
#include "codec/json_splitter.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <bit>

namespace kube::detail {

namespace {

constexpr std::array<bool, 256> kBracketOrQuote = [] {
  std::array<bool, 256> marks{};
  for (const char c : {'"', '{', '}', '[', ']'}) marks[static_cast<unsigned char>(c)] = true;
  return marks;
}();

const char* find_quote_or_escape(const char* at, const char* end) noexcept {
#ifdef __SSE2__
  for (; end - at >= 16; at += 16) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(
        _mm_cmpeq_epi8(chunk, _mm_set1_epi8('"')), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\')))));
    if (mask != 0) return at + std::countr_zero(mask);
  }
#endif
  while (at < end && *at != '"' && *at != '\\') ++at;
  return at;
}

bool ends_scalar(char c) noexcept {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' ||
         c == '{' || c == '[' || c == '"';
}

}  // namespace

std::size_t JsonExtent::advance(std::string_view bytes, bool& complete) noexcept {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const auto used = [&] { return static_cast<std::size_t>(at - bytes.data()); };
  complete = false;
  while (at < end) {
    switch (state_) {
      case State::kStart:
        if (*at == '{' || *at == '[') {
          depth_ = 1;
          state_ = State::kInside;
        } else if (*at == '"') {
          state_ = State::kString;
        } else {
          state_ = State::kScalar;
          continue;
        }
        ++at;
        break;
      case State::kInside:
        while (at < end && !kBracketOrQuote[static_cast<unsigned char>(*at)]) ++at;
        if (at == end) return used();
        if (*at == '"') {
          state_ = State::kString;
        } else if (*at == '{' || *at == '[') {
          ++depth_;
        } else {
          --depth_;
        }
        ++at;
        if (depth_ == 0) {
          complete = true;
          return used();
        }
        break;
      case State::kString:
        at = find_quote_or_escape(at, end);
        if (at == end) return used();
        if (*at == '\\') {
          state_ = State::kEscape;
        } else {
          state_ = State::kInside;
          if (depth_ == 0) {
            ++at;
            complete = true;
            return used();
          }
        }
        ++at;
        break;
      case State::kEscape:
        ++at;
        state_ = State::kString;
        break;
      case State::kScalar:
        while (at < end && !ends_scalar(*at)) ++at;
        complete = at < end;
        return used();
    }
  }
  return used();
}

}  // namespace kube::detail
