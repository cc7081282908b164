// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/quantity_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube::quantity::detail {

/// The smallest power of ten that a quantity can represent.
inline constexpr std::int64_t kNano = -9;

/// The largest number of digits that always fit an int64.
inline constexpr std::size_t kSmallDigits = 18;

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

// The suffixes in ascending order, each a step of 10^3 or 2^10 from the previous one. The binary
// suffixes have an 'i' after the letter.
inline constexpr std::string_view kSmallSuffixes = "num";
inline constexpr std::string_view kLargeSuffixes = "kMGTPE";
inline constexpr std::string_view kBinarySuffixes = "KMGTPE";

/// Splits a text into its parts. Sets Scanned::fault if it is not a quantity.
[[nodiscard]] Scanned scan(std::string_view text) noexcept;
/// Like scan(). Throws std::invalid_argument with the text and the reason.
[[nodiscard]] Scanned scan_or_throw(std::string_view text);

/// True if the server parses the number in a machine word. Its result then differs from the general
/// case in two points: see scan() and round_trip().
[[nodiscard]] bool read_in_one_word(const Scanned& s) noexcept;

}  // namespace kube::quantity::detail
