// SPDX-License-Identifier: Apache-2.0
#include "yaml_words.hpp"

#include "decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>

namespace kube::detail {

namespace {

/// Determines the number base by the prefix of `digits`, and removes the prefix.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  int base = 10;
  switch (digits[1]) {
    case 'x':
    case 'X':
      base = 16;
      break;
    case 'o':
    case 'O':
      base = 8;
      break;
    case 'b':
    case 'B':
      base = 2;
      break;
    default:  // YAML 1.1
      return digits.find_first_not_of("01234567") == std::string_view::npos ? 8 : 10;
  }
  digits.remove_prefix(2);
  return base;
}

}  // namespace

bool is_null_word(std::string_view text) noexcept {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<bool> bool_word(std::string_view text) noexcept {
  for (const std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    if (text == word) return true;
  }
  for (const std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

bool is_not_finite(std::string_view text) noexcept {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  constexpr std::string_view kWords[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  return std::ranges::find(kWords, text) != std::end(kWords);
}

std::optional<Value> number_word(std::string_view text) {
  constexpr std::string_view kFirst = "+-.0123456789";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return std::nullopt;
  std::string without_underscores;
  if (text.find('_') != std::string_view::npos) {  // 1_000_000
    without_underscores = text;
    std::erase(without_underscores, '_');
    text = without_underscores;
  }
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  std::string_view body = digits;
  const int base = take_base(body);
  std::uint64_t magnitude = 0;
  const auto whole = std::from_chars(body.data(), body.data() + body.size(), magnitude, base);
  if (!body.empty() && whole.ec == std::errc{} && whole.ptr == body.data() + body.size()) {
    if (!negative && magnitude <= INT64_MAX) return Value{static_cast<std::int64_t>(magnitude)};
    if (negative && magnitude <= std::uint64_t{1} << 63) {
      return Value{static_cast<std::int64_t>(-magnitude)};
    }
    return Value{negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude)};
  }
  if (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')) return std::nullopt;
  if (const std::optional<double> number = to_double(digits)) {
    return Value{negative ? -*number : *number};
  }
  return std::nullopt;
}

}  // namespace kube::detail
