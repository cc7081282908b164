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
/// Nothing finer than 1n exists: what a text says beyond that is rounded away from zero. A binary
/// quantity is capped at 2^63 - 1 in either direction when it is read; the other families have no
/// limit, and results are never capped.
///
/// Results are in canonical form: no fraction digits, the largest suffix that allows this, and the
/// family of the (left) operand. A binary quantity turns decimal where binary would have to round
/// or is smaller than 1Ki. Numbers are never held in floating point.
///
/// Cost: proportional to the length of the texts, whatever exponents they name. Ordinary
/// quantities (18 digits or fewer) are handled in 64-bit integers.
///
/// Throws std::invalid_argument, with the text and the reason, when a text is not a quantity.
/// Thread safety: pure functions.
namespace kube::quantity {

enum class Family : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

/// True if `text` is a quantity. Does not allocate. As lenient as the Kubernetes API server: a
/// leading '+', leading zeros, "1." and ".5" pass, and so does a text without any digit, which
/// counts as zero ("-", "Ki"). White space does not pass.
[[nodiscard]] bool valid(std::string_view text) noexcept;

/// The family in which results that start from `text` are written. A binary quantity between 0 and
/// 1 counts as decimal.
[[nodiscard]] Family family(std::string_view text);

/// The one canonical form: two texts of the same family and number give the same answer.
[[nodiscard]] std::string canonical(std::string_view text);

/// The form in which the API server writes back a quantity that it has read. Mostly canonical(),
/// but the server keeps a text that it takes for canonical already, such as "+5", "1.500" or "1E3".
[[nodiscard]] std::string round_trip(std::string_view text);

/// -1, 0 or 1 as `a` is less than, equal to or greater than `b`. Families do not matter.
[[nodiscard]] int compare(std::string_view a, std::string_view b);

/// -1, 0 or 1.
[[nodiscard]] int sign(std::string_view text);

/// The sum, in the family of `a`, or of `b` where `a` is zero. Throws std::overflow_error when the
/// exponents are so far apart that the exact sum would need thousands of zeros.
[[nodiscard]] std::string add(std::string_view a, std::string_view b);

/// The difference `a` - `b`; family and errors as for add().
[[nodiscard]] std::string subtract(std::string_view a, std::string_view b);

[[nodiscard]] std::string negate(std::string_view text);

[[nodiscard]] std::string multiply(std::string_view text, std::int64_t factor);

/// The number as an integer, rounded away from zero; the nearest int64 where it does not fit.
[[nodiscard]] std::int64_t value(std::string_view text);

/// A thousand times the number ("1500m" gives 1500); rounding and range as for value().
[[nodiscard]] std::int64_t milli_value(std::string_view text);

/// The double nearest to the number; infinite where it is out of range.
[[nodiscard]] double as_double(std::string_view text);

/// The canonical text of a whole number.
[[nodiscard]] std::string from_value(std::int64_t value, Family family = Family::kDecimalSi);

/// The canonical text of a number given in thousandths.
[[nodiscard]] std::string from_milli_value(std::int64_t value, Family family = Family::kDecimalSi);

}  // namespace kube::quantity
