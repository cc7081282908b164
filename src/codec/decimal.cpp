// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace kube::detail {

namespace {

/// Distinguishes overflow (true) from underflow (false) for a number outside the range of double.
/// Both the length of the mantissa and the exponent matter: "1" with 800 zeros and "e-400" is
/// large.
bool is_too_large(std::string_view digits) noexcept {
  const std::size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::int64_t position =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point ? 1 : 0);

  std::string_view exponent = digits.substr(exponent_at);
  if (exponent.empty()) return position > 0;
  exponent.remove_prefix(1);
  const bool is_negative = exponent.starts_with('-');
  if (is_negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  const auto result = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  // No mantissa that fits into memory compensates an exponent of 19 digits.
  if (result.ec != std::errc{} || power > std::numeric_limits<std::int64_t>::max() / 2) {
    return !is_negative;
  }
  return position + (is_negative ? -power : power) > 0;
}

}  // namespace

std::optional<double> to_double(std::string_view digits) noexcept {
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return std::nullopt;
  if (result.ec == std::errc{}) {
    return std::isfinite(number) ? std::optional{number} : std::nullopt;
  }
  if (is_too_large(digits)) return std::nullopt;
  return digits.starts_with('-') ? -0.0 : 0.0;
}

}  // namespace kube::detail
