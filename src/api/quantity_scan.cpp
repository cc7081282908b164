// SPDX-License-Identifier: Apache-2.0
#include "quantity_scan.hpp"

#include <kube/api/validation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace kube::quantity::detail {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

}  // namespace

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
          "{} is not a quantity: it must be a number and a suffix", kube::detail::quoted(text)));
    case Fault::kNoDigits:
      throw std::invalid_argument(
          fmt::format("{} is not a quantity: it has no digits", kube::detail::quoted(text)));
    case Fault::kSuffix:
      break;
  }
  throw std::invalid_argument(fmt::format("{} is not a quantity: there is no suffix {}",
                                          kube::detail::quoted(text),
                                          kube::detail::quoted(s.suffix)));
}

}  // namespace kube::quantity::detail
