// SPDX-License-Identifier: Apache-2.0
#include <kube/api/quantity_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "quantity_number.hpp"
#include "quantity_scan.hpp"

namespace kube::quantity {
namespace {

using namespace detail;

Decimal decimal_of(const Scanned& s) {
  const std::optional<Small> small = to_small(s);
  return small ? to_decimal(*small) : to_decimal(s);
}

/// Calls `function` with the number in `text`, as a Small if it fits.
template <typename Function>
auto with_number(std::string_view text, Function function) {
  const Scanned s = scan_or_throw(text);
  if (const std::optional<Small> small = to_small(s)) return function(*small);
  return function(to_decimal(s));
}

/// Formats a non-zero number in one of the decimal families. `digits` does not end with '0'.
std::string spell_decimal(bool negative, std::string_view digits, std::int64_t exponent,
                          Family family) {
  constexpr std::int64_t kExa = 18;
  // The largest multiple of three that can be parsed again.
  constexpr std::int64_t kMaxPower = std::int64_t{std::numeric_limits<std::int32_t>::max()} / 3 * 3;
  const std::int64_t below = (exponent % 3 + 3) % 3;
  const std::int64_t power =
      std::min(exponent - below, family == Family::kDecimalExponent ? kMaxPower : kExa);
  std::string text;
  if (negative) text += '-';
  text += digits;
  text.append(static_cast<std::size_t>(exponent - power), '0');
  if (power == 0) return text;
  if (family == Family::kDecimalExponent) {
    text += 'e';
    text += fmt::format_int(power).c_str();
  } else {
    const std::string_view letters = power < 0 ? kSmallSuffixes : kLargeSuffixes;
    text += letters[static_cast<std::size_t>((power < 0 ? power - kNano : power - 3) / 3)];
  }
  return text;
}

std::string spell_binary(bool negative, std::string_view digits, std::size_t power) {
  std::string text;
  if (negative) text += '-';
  text += digits;
  if (power > 0) {
    text += kBinarySuffixes[power - 1];
    text += 'i';
  }
  return text;
}

std::string spell(const Decimal& number) {
  if (number.digits.empty()) return "0";
  Family family = number.family;
  if (family == Family::kBinarySi) {
    static const Decimal kKibi{.digits = "1024"};
    // The last digit is not zero, so a negative exponent means a fraction.
    if (number.exponent >= 0 && compare_magnitudes(number, kKibi) >= 0) {
      std::string digits = number.digits;
      digits.append(static_cast<std::size_t>(number.exponent), '0');
      std::size_t power = 0;
      while (power < kBinarySuffixes.size() && divide_by_1024(digits)) ++power;
      return spell_binary(number.negative, digits, power);
    }
    family = Family::kDecimalSi;
  }
  return spell_decimal(number.negative, number.digits, number.exponent, family);
}

std::string spell(const Small& number) {
  if (number.digits == 0) return "0";
  Family family = number.family;
  if (family == Family::kBinarySi) {
    if (number.exponent > 0) return spell(to_decimal(number));
    const std::int64_t unit = power_of_ten(-number.exponent);
    std::uint64_t whole = magnitude(number.digits / unit);
    if (number.digits % unit == 0 && whole >= 1024) {
      std::size_t power = 0;
      while (power < kBinarySuffixes.size() && whole % 1024 == 0) {
        whole /= 1024;
        ++power;
      }
      const fmt::format_int digits(whole);
      return spell_binary(number.digits < 0, {digits.data(), digits.size()}, power);
    }
    family = Family::kDecimalSi;
  }
  const fmt::format_int buffer(magnitude(number.digits));
  std::string_view digits(buffer.data(), buffer.size());
  const std::size_t size = digits.find_last_not_of('0') + 1;
  const std::int64_t exponent = number.exponent + static_cast<std::int64_t>(digits.size() - size);
  digits = digits.substr(0, size);
  return spell_decimal(number.digits < 0, digits, exponent, family);
}

std::string add_or_subtract(std::string_view a, std::string_view b, bool subtract) {
  const Scanned left = scan_or_throw(a);
  Scanned right = scan_or_throw(b);
  if (subtract) right.negative = !right.negative;
  const std::optional<Small> small_left = to_small(left);
  const std::optional<Small> small_right = to_small(right);
  if (small_left && small_right) {
    if (const auto result = detail::add(*small_left, *small_right)) return spell(*result);
  }
  return spell(detail::add(decimal_of(left), decimal_of(right)));
}

}  // namespace

bool valid(std::string_view text) noexcept { return detail::scan(text).fault == Fault::kNone; }

Family family(std::string_view text) {
  return with_number(text, [](const auto& number) { return number.family; });
}

std::string canonical(std::string_view text) {
  return with_number(text, [](const auto& number) { return spell(number); });
}

std::string round_trip(std::string_view text) {
  const Scanned s = scan_or_throw(text);
  if (read_in_one_word(s) && !s.integer.empty()) {
    const std::int64_t power = s.exponent - static_cast<std::int64_t>(s.fraction.size());
    const std::string digits = std::string(s.integer).append(s.fraction);
    // The server's check for canonical form, including its inaccuracies.
    const bool kept = s.family == Family::kBinarySi ? std::stoll(digits) % 8 != 0
                                                    : power % 3 == 0 && !digits.ends_with("000");
    if (kept) return std::string(text);
  }
  const std::optional<Small> small = to_small(s);
  return small ? spell(*small) : spell(to_decimal(s));
}

int compare(std::string_view a, std::string_view b) {
  const Scanned left = scan_or_throw(a);
  const Scanned right = scan_or_throw(b);
  const std::optional<Small> small_left = to_small(left);
  const std::optional<Small> small_right = to_small(right);
  if (small_left && small_right) {
    const std::int64_t exponent = std::min(small_left->exponent, small_right->exponent);
    const auto x = scaled(small_left->digits, small_left->exponent - exponent);
    const auto y = scaled(small_right->digits, small_right->exponent - exponent);
    if (x && y) return static_cast<int>(*x > *y) - static_cast<int>(*x < *y);
  }
  const Decimal x = decimal_of(left);
  const Decimal y = decimal_of(right);
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  return x.negative ? compare_magnitudes(y, x) : compare_magnitudes(x, y);
}

int sign(std::string_view text) {
  const Scanned s = scan_or_throw(text);
  const bool zero =
      s.integer.empty() && s.fraction.find_first_not_of('0') == std::string_view::npos;
  if (zero) return 0;
  return s.negative ? -1 : 1;
}

std::string add(std::string_view a, std::string_view b) { return add_or_subtract(a, b, false); }

std::string subtract(std::string_view a, std::string_view b) { return add_or_subtract(a, b, true); }

std::string negate(std::string_view text) {
  Scanned s = scan_or_throw(text);
  s.negative = !s.negative;
  const std::optional<Small> small = to_small(s);
  return small ? spell(*small) : spell(to_decimal(s));
}

std::string multiply(std::string_view text, std::int64_t factor) {
  const Scanned s = scan_or_throw(text);
  if (std::optional<Small> small = to_small(s)) {
    if (!__builtin_mul_overflow(small->digits, factor, &small->digits)) return spell(*small);
  }
  return spell(detail::multiply(decimal_of(s), factor));
}

std::int64_t value(std::string_view text) {
  return with_number(text, [](const auto& number) { return in_units_of(number, 0); });
}

std::int64_t milli_value(std::string_view text) {
  return with_number(text, [](const auto& number) { return in_units_of(number, -3); });
}

double as_double(std::string_view text) {
  return with_number(text, [](const auto& number) { return to_double(number); });
}

std::string from_value(std::int64_t value, Family family) {
  return spell(Small{.digits = value, .exponent = 0, .family = family});
}

std::string from_milli_value(std::int64_t value, Family family) {
  return spell(Small{.digits = value, .exponent = -3, .family = family});
}

}  // namespace kube::quantity
