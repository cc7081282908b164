// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Exact arithmetic on quantities in their text form, such as "250m", "1.5Gi" or "12e6".
///
/// A quantity is a decimal number with an optional suffix of one of three families:
///   - decimal SI: n u m (none) k M G T P E, powers of a thousand;
///   - binary SI: Ki Mi Gi Ti Pi Ei, powers of 1024;
///   - decimal exponent: e or E and a whole number.
/// The smallest unit is 1n: a finer fraction is rounded away from zero. A binary quantity is capped
/// at ±(2^63 - 1) when it is parsed; the other families have no limit, and results are never
/// capped.
///
/// Results are in canonical form: no fraction digits, the largest suffix that allows this, and the
/// family of the (left) operand. A binary quantity becomes decimal if it is below 1Ki, or if the
/// binary form would have to round. Floating point is never used for amounts.
///
/// Cost: proportional to the length of the texts, not to their exponents. Ordinary quantities (18
/// digits or fewer) use 64-bit integers.
///
/// Throws std::invalid_argument with the text and the reason if a text is not a quantity.
/// Thread safety: pure functions.
namespace kube::quantity {

/// The family of a quantity's suffix.
enum class Family : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

/// True if `text` is a quantity. Does not allocate. As lenient as the Kubernetes API server:
/// accepts a leading '+', leading zeros, "1." and ".5", and also a text without any digit, which
/// counts as zero ("-", "Ki"). Rejects white space.
[[nodiscard]] bool valid(std::string_view text) noexcept;

/// The family of the results that are derived from `text`. A binary quantity between 0 and 1 counts
/// as decimal.
[[nodiscard]] Family family(std::string_view text);

/// Returns the canonical form: two texts of the same family and amount have the same result.
[[nodiscard]] std::string canonical(std::string_view text);

/// Returns the form in which the API server writes back a quantity that it has parsed. Mostly
/// canonical(), but the server keeps a text that it considers canonical, such as "+5", "1.500" or
/// "1E3".
[[nodiscard]] std::string round_trip(std::string_view text);

/// Returns -1, 0 or 1 if `a` is less than, equal to or greater than `b`. Ignores families.
[[nodiscard]] int compare(std::string_view a, std::string_view b);

/// Returns -1, 0 or 1.
[[nodiscard]] int sign(std::string_view text);

/// Returns the sum, in the family of `a`, or of `b` if `a` is zero. Throws std::overflow_error if
/// the exponents are so far apart that the exact sum would need thousands of zeros.
[[nodiscard]] std::string add(std::string_view a, std::string_view b);

/// Returns `a` - `b`; family and errors as for add().
[[nodiscard]] std::string subtract(std::string_view a, std::string_view b);

/// Returns the negated amount.
[[nodiscard]] std::string negate(std::string_view text);

/// Returns the amount times `factor`.
[[nodiscard]] std::string multiply(std::string_view text, std::int64_t factor);

/// Returns the amount as an integer, rounded away from zero and saturated to the range of int64.
[[nodiscard]] std::int64_t value(std::string_view text);

/// Returns the amount in thousandths ("1500m" returns 1500), rounded and saturated like value().
[[nodiscard]] std::int64_t milli_value(std::string_view text);

/// Returns the nearest double; infinity if the amount is out of range.
[[nodiscard]] double as_double(std::string_view text);

/// Returns the canonical text of an integer.
[[nodiscard]] std::string from_value(std::int64_t value, Family family = Family::kDecimalSi);

/// Returns the canonical text of an amount given in thousandths.
[[nodiscard]] std::string from_milli_value(std::int64_t value, Family family = Family::kDecimalSi);

}  // namespace kube::quantity
