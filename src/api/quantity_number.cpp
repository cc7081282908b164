// SPDX-License-Identifier: Apache-2.0
#include "quantity_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kube::quantity::detail {
namespace {

/// Strips zeros at both ends, so that equal numbers have equal digits.
void normalize(Decimal& number) {
  const std::size_t last = number.digits.find_last_not_of('0');
  if (last == std::string::npos) {
    number.digits.clear();
    number.exponent = 0;
    number.negative = false;
    return;
  }
  number.exponent += static_cast<std::int64_t>(number.digits.size() - last - 1);
  number.digits.erase(last + 1);
  number.digits.erase(0, number.digits.find_first_not_of('0'));
}

/// Adds one to the last digit.
void increment(std::string& digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return;
    }
    digits[i] = '0';
  }
  digits.insert(digits.begin(), '1');
}

/// Raises the exponent to `floor`; a non-zero remainder is rounded away from zero.
void round_up_to(Decimal& number, std::int64_t floor) {
  if (number.exponent >= floor) return;
  const auto dropped = static_cast<std::uint64_t>(floor - number.exponent);
  const std::size_t kept = dropped < number.digits.size() ? number.digits.size() - dropped : 0;
  const bool rest = number.digits.find_first_not_of('0', kept) != std::string::npos;
  number.digits.erase(kept);
  number.exponent = floor;
  if (rest) increment(number.digits);
}

/// Returns the product of two digit strings, in time proportional to the product of their lengths.
std::string product(std::string_view a, std::string_view b) {
  std::string result(a.size() + b.size(), '0');
  std::uint64_t carry = 0;
  for (std::size_t column = 0; column < result.size(); ++column) {
    for (std::size_t j = 0; j < b.size() && j <= column; ++j) {
      const std::size_t i = column - j;
      if (i >= a.size()) continue;
      carry +=
          static_cast<std::uint64_t>((a[a.size() - 1 - i] - '0') * (b[b.size() - 1 - j] - '0'));
    }
    result[result.size() - 1 - column] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  return result;
}

/// Returns the sum of two right-aligned digit strings.
std::string sum(std::string a, std::string_view b) {
  if (a.size() < b.size()) a.insert(0, b.size() - a.size(), '0');
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int total = digit - '0' + carry + (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    digit = static_cast<char>('0' + total % 10);
    carry = total / 10;
  }
  if (carry != 0) a.insert(a.begin(), '1');
  return a;
}

/// Returns a - b for two right-aligned digit strings, with a >= b.
std::string difference(std::string a, std::string_view b) {
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    char& digit = a[a.size() - 1 - i];
    const int total = digit - '0' - borrow - (i < b.size() ? b[b.size() - 1 - i] - '0' : 0);
    borrow = total < 0 ? 1 : 0;
    digit = static_cast<char>('0' + total + borrow * 10);
  }
  return a;
}

Decimal binary_to_decimal(const Scanned& s) {
  constexpr std::string_view kCap = "9223372036854775807";
  Decimal number{.negative = s.negative, .digits = {}, .family = Family::kBinarySi};
  const Decimal cap{.digits = std::string(kCap)};
  if (s.integer.size() > kCap.size()) {
    number.digits = kCap;
    return number;
  }
  // A multiple of 1n divided by 2^60 has at most 69 fraction digits; of further digits it only
  // matters whether they are all zero.
  constexpr std::size_t kFractionDigits = 69;
  number.digits.append(s.integer).append(s.fraction.substr(0, kFractionDigits));
  if (s.fraction.size() > kFractionDigits &&
      s.fraction.find_first_not_of('0', kFractionDigits) != std::string_view::npos) {
    increment(number.digits);
  }
  number.exponent = -static_cast<std::int64_t>(std::min(s.fraction.size(), kFractionDigits));
  number.digits = product(number.digits, fmt::format_int(std::uint64_t{1} << s.exponent).c_str());
  round_up_to(number, kNano);
  normalize(number);
  if (compare_magnitudes(number, cap) > 0) {
    number.digits = kCap;
    number.exponent = 0;
  }
  if (!number.digits.empty() &&
      number.exponent + static_cast<std::int64_t>(number.digits.size()) <= 0) {
    number.family = Family::kDecimalSi;
  }
  return number;
}

constexpr std::int64_t saturated(bool negative, std::uint64_t size) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (size <= kMax) {
    const auto number = static_cast<std::int64_t>(size);
    return negative ? -number : number;
  }
  return negative ? std::numeric_limits<std::int64_t>::min()
                  : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::optional<Small> to_small(const Scanned& s) {
  if (s.integer.size() + s.fraction.size() > kSmallDigits) return std::nullopt;
  Small number{.family = s.family};
  for (const std::string_view part : {s.integer, s.fraction}) {
    for (const char c : part) number.digits = number.digits * 10 + (c - '0');
  }
  if (number.digits == 0) return number;
  number.exponent = -static_cast<std::int64_t>(s.fraction.size());
  if (s.family == Family::kBinarySi) {
    const std::int64_t unit = std::int64_t{1} << s.exponent;
    if (__builtin_mul_overflow(number.digits, unit, &number.digits)) return std::nullopt;
  } else {
    number.exponent += s.exponent;
  }
  if (number.exponent < kNano) return std::nullopt;
  if (s.family == Family::kBinarySi && number.digits < power_of_ten(-number.exponent)) {
    number.family = Family::kDecimalSi;
  }
  if (s.negative) number.digits = -number.digits;
  return number;
}

Decimal to_decimal(const Scanned& s) {
  if (s.family == Family::kBinarySi) return binary_to_decimal(s);
  Decimal number{.negative = s.negative, .digits = {}, .family = s.family};
  number.digits.reserve(s.integer.size() + s.fraction.size());
  number.digits.append(s.integer).append(s.fraction);
  number.exponent = s.exponent - static_cast<std::int64_t>(s.fraction.size());
  round_up_to(number, kNano);
  normalize(number);
  return number;
}

Decimal to_decimal(const Small& small) {
  Decimal number{.negative = small.digits < 0,
                 .digits = fmt::format_int(magnitude(small.digits)).str(),
                 .exponent = small.exponent,
                 .family = small.family};
  normalize(number);
  return number;
}

std::optional<std::int64_t> scaled(std::int64_t number, std::int64_t power) {
  std::int64_t result = 0;
  if (number == 0) return 0;
  if (power >= static_cast<std::int64_t>(kPowersOfTen.size()) ||
      __builtin_mul_overflow(number, power_of_ten(power), &result)) {
    return std::nullopt;
  }
  return result;
}

bool divide_by_1024(std::string& digits) {
  std::string quotient(digits.size(), '0');
  int rest = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    rest = rest * 10 + (digits[i] - '0');
    quotient[i] = static_cast<char>('0' + rest / 1024);
    rest %= 1024;
  }
  if (rest != 0) return false;
  quotient.erase(0, quotient.find_first_not_of('0'));
  digits = std::move(quotient);
  return true;
}

int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty()) {
    return static_cast<int>(!a.digits.empty()) - static_cast<int>(!b.digits.empty());
  }
  const std::int64_t top_a = a.exponent + static_cast<std::int64_t>(a.digits.size());
  const std::int64_t top_b = b.exponent + static_cast<std::int64_t>(b.digits.size());
  if (top_a != top_b) return top_a < top_b ? -1 : 1;
  const int order = a.digits.compare(b.digits);
  return order < 0 ? -1 : static_cast<int>(order > 0);
}

std::optional<Small> add(const Small& a, const Small& b) {
  if (a.digits == 0) return b;
  if (b.digits == 0) return a;
  Small result{.exponent = std::min(a.exponent, b.exponent), .family = a.family};
  const std::optional<std::int64_t> left = scaled(a.digits, a.exponent - result.exponent);
  const std::optional<std::int64_t> right = scaled(b.digits, b.exponent - result.exponent);
  if (!left || !right || __builtin_add_overflow(*left, *right, &result.digits)) {
    return std::nullopt;
  }
  return result;
}

Decimal add(Decimal a, Decimal b) {
  if (a.digits.empty()) return b;
  if (b.digits.empty()) return a;
  // Both are expanded to the lower exponent. A gap between the digits is filled with zeros, so a
  // huge gap would make a small text cost gigabytes.
  constexpr std::int64_t kMaxZeros = 4096;
  Decimal result{.digits = {}, .exponent = std::min(a.exponent, b.exponent), .family = a.family};
  for (Decimal* const number : {&a, &b}) {
    const std::int64_t zeros = number->exponent - result.exponent;
    const Decimal& other = number == &a ? b : a;
    if (zeros > kMaxZeros + static_cast<std::int64_t>(other.digits.size())) {
      throw std::overflow_error(
          "the exact sum of two quantities would have too many digits: their exponents are too "
          "far apart");
    }
    number->digits.append(static_cast<std::size_t>(zeros), '0');
    number->exponent = result.exponent;
  }
  if (a.negative == b.negative) {
    result.negative = a.negative;
    result.digits = sum(std::move(a.digits), b.digits);
  } else {
    const bool a_is_larger = a.digits.size() != b.digits.size() ? a.digits.size() > b.digits.size()
                                                                : a.digits > b.digits;
    if (!a_is_larger) std::swap(a, b);
    result.negative = a.negative;
    result.digits = difference(std::move(a.digits), b.digits);
  }
  normalize(result);
  return result;
}

Decimal multiply(Decimal number, std::int64_t factor) {
  number.digits = product(number.digits, fmt::format_int(magnitude(factor)).c_str());
  number.negative = number.negative != (factor < 0);
  normalize(number);
  return number;
}

std::int64_t in_units_of(const Small& number, std::int64_t power) {
  const std::int64_t shift = number.exponent - power;
  if (shift >= 0) {
    const std::optional<std::int64_t> result = scaled(number.digits, shift);
    return result ? *result
                  : saturated(number.digits < 0, std::numeric_limits<std::uint64_t>::max());
  }
  const std::int64_t unit = power_of_ten(-shift);
  const std::int64_t rest = number.digits % unit;
  return number.digits / unit + static_cast<int>(rest > 0) - static_cast<int>(rest < 0);
}

std::int64_t in_units_of(const Decimal& number, std::int64_t power) {
  constexpr std::int64_t kInt64Digits = 19;
  if (number.digits.empty()) return 0;
  const std::int64_t shift = number.exponent - power;
  const std::int64_t places = static_cast<std::int64_t>(number.digits.size()) + shift;
  if (places > kInt64Digits) {
    return saturated(number.negative, std::numeric_limits<std::uint64_t>::max());
  }
  std::uint64_t size = 0;
  for (std::int64_t i = 0; i < places; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char digit = at < number.digits.size() ? number.digits[at] : '0';
    size = size * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (shift < 0) ++size;  // the dropped digits are not all zero
  return saturated(number.negative, size);
}

double to_double(const Decimal& number) {
  if (number.digits.empty()) return 0;
  const std::string text = fmt::format("{}e{}", number.digits, number.exponent);
  double result = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  // No quantity is finer than 1n, so out of range always means too large.
  if (error == std::errc::result_out_of_range) result = std::numeric_limits<double>::infinity();
  return number.negative ? -result : result;
}

double to_double(const Small& number) {
  // One correctly rounded operation on two exact operands returns the nearest double.
  constexpr std::uint64_t kExactIntegers = std::uint64_t{1} << 53U;
  constexpr auto kExactPowers = static_cast<std::int64_t>(kSmallDigits);
  if (magnitude(number.digits) <= kExactIntegers && number.exponent <= kExactPowers) {
    const auto digits = static_cast<double>(number.digits);
    if (number.exponent >= 0) return digits * static_cast<double>(power_of_ten(number.exponent));
    return digits / static_cast<double>(power_of_ten(-number.exponent));
  }
  return to_double(to_decimal(number));
}

}  // namespace kube::quantity::detail
