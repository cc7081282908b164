// SPDX-License-Identifier: Apache-2.0
#include "kube/api/quantity_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "kube/api/validation.hpp"

namespace kube::quantity {
namespace {

// ---- Scanning -----------------------------------------------------------------------------------

/// The smallest power of ten that a quantity can represent.
constexpr std::int64_t kNano = -9;

/// The largest number of digits that always fit an int64.
constexpr std::size_t kSmallDigits = 18;

enum class Fault : std::uint8_t { kNone, kEmpty, kForm, kNoDigits, kSuffix };

/// The parts of a text, as views into it.
struct Scanned {
  bool negative = false;
  std::string_view integer;   ///< without leading zeros
  std::string_view fraction;  ///< as written
  std::string_view suffix;
  Family family = Family::kDecimalSi;
  std::int32_t exponent = 0;  ///< power of ten; of two for kBinarySi
  Fault fault = Fault::kNone;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The suffixes in ascending order, each a step of 10^3 or 2^10 from the previous one. The binary
// suffixes have an 'i' after the letter.
constexpr std::string_view kSmallSuffixes = "num";
constexpr std::string_view kLargeSuffixes = "kMGTPE";
constexpr std::string_view kBinarySuffixes = "KMGTPE";

/// Parses `s.suffix` into family and exponent. Returns false if the suffix does not exist.
bool read_suffix(Scanned& s) noexcept {
  const auto set = [&s](Family family, std::size_t size, int sign) {
    s.family = family;
    s.exponent = sign * static_cast<std::int32_t>(size);
    return true;
  };
  const std::string_view text = s.suffix;
  if (text.empty()) return true;
  if (text.size() == 1) {
    const std::size_t large = kLargeSuffixes.find(text[0]);
    if (large < kLargeSuffixes.size()) return set(Family::kDecimalSi, (large + 1) * 3, 1);
    const std::size_t small = kSmallSuffixes.find(text[0]);
    return small < kSmallSuffixes.size() && set(Family::kDecimalSi, (3 - small) * 3, -1);
  }
  if (text.size() == 2 && text[1] == 'i') {
    const std::size_t binary = kBinarySuffixes.find(text[0]);
    return binary < kBinarySuffixes.size() && set(Family::kBinarySi, (binary + 1) * 10, 1);
  }
  if (text[0] != 'e' && text[0] != 'E') return false;
  std::string_view number = text.substr(1);
  if (number.front() == '+') {
    number.remove_prefix(1);
    if (number.empty() || !is_digit(number.front())) return false;
  }
  std::int64_t power = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, power);
  if (error != std::errc{} || stop != end) return false;
  // The grammar allows 64-bit exponents, but the server truncates them to 32 bits. A client that
  // did not would read another number from the same text.
  s.family = Family::kDecimalExponent;
  s.exponent = static_cast<std::int32_t>(power);
  return true;
}

/// True if the server parses the number in a machine word. Its result then differs from the general
/// case in two points: see scan() and round_trip().
bool read_in_one_word(const Scanned& s) noexcept {
  const std::size_t integer = std::max<std::size_t>(s.integer.size(), 1);
  if (s.family == Family::kBinarySi) {
    return s.fraction.empty() && integer + static_cast<std::size_t>(s.exponent) * 3 / 10 <= 14;
  }
  return integer + s.fraction.size() <= kSmallDigits &&
         s.exponent - static_cast<std::int64_t>(s.fraction.size()) >= kNano;
}

Scanned scan(std::string_view text) noexcept {
  Scanned s;
  if (text.empty()) {
    s.fault = Fault::kEmpty;
    return s;
  }
  const std::size_t size = text.size();
  std::size_t at = 0;
  const auto skip_digits = [&] {
    while (at < size && is_digit(text[at])) ++at;
  };
  if (text[0] == '-' || text[0] == '+') {
    s.negative = text[0] == '-';
    ++at;
  }
  const std::size_t start = at;
  while (at < size && text[at] == '0') ++at;
  const std::size_t first = at;
  skip_digits();
  s.integer = text.substr(first, at - first);
  bool has_digits = at > start;
  if (at < size && text[at] == '.') {
    const std::size_t after_point = ++at;
    skip_digits();
    s.fraction = text.substr(after_point, at - after_point);
    has_digits = has_digits || !s.fraction.empty();
  }
  if (at == size) return s;

  s.suffix = text.substr(at);
  if (!read_suffix(s)) {
    // Distinguishes a suffix that does not exist from text that is not a suffix at all.
    constexpr std::string_view kSuffixLetters = "eEinumkKMGTP";
    while (at < size && kSuffixLetters.find(text[at]) != std::string_view::npos) ++at;
    if (at < size && (text[at] == '-' || text[at] == '+')) ++at;
    skip_digits();
    s.fault = at == size ? Fault::kSuffix : Fault::kForm;
  } else if (!has_digits && !read_in_one_word(s)) {
    s.fault = Fault::kNoDigits;
  }
  return s;
}

Scanned scan_or_throw(std::string_view text) {
  Scanned s = scan(text);
  switch (s.fault) {
    case Fault::kNone:
      return s;
    case Fault::kEmpty:
      throw std::invalid_argument("a quantity must not be empty");
    case Fault::kForm:
      throw std::invalid_argument(fmt::format(
          "{} is not a quantity: it must be a number and a suffix", detail::quoted(text)));
    case Fault::kNoDigits:
      throw std::invalid_argument(
          fmt::format("{} is not a quantity: it has no digits", detail::quoted(text)));
    case Fault::kSuffix:
      break;
  }
  throw std::invalid_argument(fmt::format("{} is not a quantity: there is no suffix {}",
                                          detail::quoted(text), detail::quoted(s.suffix)));
}

// ---- Numbers ------------------------------------------------------------------------------------

constexpr std::array<std::int64_t, kSmallDigits + 1> kPowersOfTen = [] {
  std::array<std::int64_t, kSmallDigits + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

/// Returns 10^power for a power from 0 to 18.
constexpr std::int64_t power_of_ten(std::int64_t power) {
  return kPowersOfTen[static_cast<std::size_t>(power)];
}

/// A number that fits a machine word: digits * 10^exponent, with exponent >= kNano.
struct Small {
  std::int64_t digits = 0;
  std::int64_t exponent = 0;
  Family family = Family::kDecimalSi;
};

/// A number of any size: digits * 10^exponent, with exponent >= kNano. The digits neither start nor
/// end with '0'; zero has none, and is not negative. The time of every operation is proportional to
/// the number of digits, not to the exponent.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;
  Family family = Family::kDecimalSi;
};

constexpr std::uint64_t magnitude(std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  return number < 0 ? 0 - bits : bits;
}

/// Returns number * 10^power, or nullopt on overflow.
std::optional<std::int64_t> scaled(std::int64_t number, std::int64_t power) {
  std::int64_t result = 0;
  if (number == 0) return 0;
  if (power >= static_cast<std::int64_t>(kPowersOfTen.size()) ||
      __builtin_mul_overflow(number, power_of_ten(power), &result)) {
    return std::nullopt;
  }
  return result;
}

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

/// Divides a digit string by 1024 if there is no remainder; otherwise leaves it unchanged.
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

// ---- Spelling -----------------------------------------------------------------------------------

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

// ---- Arithmetic ---------------------------------------------------------------------------------

std::optional<Small> add_small(const Small& a, const Small& b) {
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

Decimal add_decimal(Decimal a, Decimal b) {
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

std::string add_or_subtract(std::string_view a, std::string_view b, bool subtract) {
  const Scanned left = scan_or_throw(a);
  Scanned right = scan_or_throw(b);
  if (subtract) right.negative = !right.negative;
  const std::optional<Small> small_left = to_small(left);
  const std::optional<Small> small_right = to_small(right);
  if (small_left && small_right) {
    if (const auto result = add_small(*small_left, *small_right)) return spell(*result);
  }
  return spell(add_decimal(decimal_of(left), decimal_of(right)));
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

/// Returns number / 10^power, rounded away from zero, for a power of 0 or less.
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

}  // namespace

// ---- Interface ----------------------------------------------------------------------------------

bool valid(std::string_view text) noexcept { return scan(text).fault == Fault::kNone; }

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
  Decimal number = decimal_of(s);
  number.digits = product(number.digits, fmt::format_int(magnitude(factor)).c_str());
  number.negative = number.negative != (factor < 0);
  normalize(number);
  return spell(number);
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
