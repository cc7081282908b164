// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity_text.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "quantity_scan.hpp"

/// The numbers behind quantities, and exact arithmetic on them.
namespace kube::quantity::detail {

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

inline constexpr std::array<std::int64_t, kSmallDigits + 1> kPowersOfTen = [] {
  std::array<std::int64_t, kSmallDigits + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

/// Returns 10^power for a power from 0 to 18.
constexpr std::int64_t power_of_ten(std::int64_t power) {
  return kPowersOfTen[static_cast<std::size_t>(power)];
}

/// Returns the number as a Small; nothing if it does not fit.
[[nodiscard]] std::optional<Small> to_small(const Scanned& s);
[[nodiscard]] Decimal to_decimal(const Scanned& s);
[[nodiscard]] Decimal to_decimal(const Small& small);

/// Returns number * 10^power, or nullopt on overflow.
[[nodiscard]] std::optional<std::int64_t> scaled(std::int64_t number, std::int64_t power);

/// Divides a digit string by 1024 if there is no remainder; otherwise leaves it unchanged.
[[nodiscard]] bool divide_by_1024(std::string& digits);

/// Returns -1, 0 or 1. Ignores signs and families.
[[nodiscard]] int compare_magnitudes(const Decimal& a, const Decimal& b);

/// Returns the sum, or nullopt on overflow.
[[nodiscard]] std::optional<Small> add(const Small& a, const Small& b);
/// Returns the sum. Throws std::overflow_error if it would have too many digits.
[[nodiscard]] Decimal add(Decimal a, Decimal b);
[[nodiscard]] Decimal multiply(Decimal number, std::int64_t factor);

/// Returns number / 10^power, rounded away from zero, for a power of 0 or less.
[[nodiscard]] std::int64_t in_units_of(const Small& number, std::int64_t power);
[[nodiscard]] std::int64_t in_units_of(const Decimal& number, std::int64_t power);

[[nodiscard]] double to_double(const Small& number);
[[nodiscard]] double to_double(const Decimal& number);

}  // namespace kube::quantity::detail
