// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Text forms of the instants and durations in Kubernetes objects.
///
/// An instant is a count of seconds (metav1.Time) or microseconds (metav1.MicroTime) since
/// 0001-01-01T00:00:00Z, so that 0 is Go's zero time, which means "not set". Its text is RFC 3339,
/// for the years 0000 to 9999. A duration is a count of nanoseconds.
///
/// Thread safety: pure functions. No function depends on the locale or the local time zone, and
/// only format_duration() allocates.
namespace kube::time_text {

/// 1970-01-01T00:00:00Z on the scale of this header, to convert from and to Unix time.
inline constexpr std::int64_t kUnixEpochSeconds = 62'135'596'800;

/// First second of the year 0000. Earlier instants have no text.
inline constexpr std::int64_t kMinSeconds = -31'622'400;
/// Last second of the year 9999. Later instants have no text.
inline constexpr std::int64_t kMaxSeconds = 315'537'897'599;

/// Size of "2006-01-02T15:04:05Z", without a terminator.
inline constexpr std::size_t kSecondsTextSize = 20;
/// Size of "2006-01-02T15:04:05.000000Z", without a terminator.
inline constexpr std::size_t kMicrosTextSize = 27;

/// Parses an RFC 3339 time with 'Z' or a numeric offset. Returns nullopt if it is malformed. A
/// fraction of a second is dropped. The calendar is checked, including leap years; there is no
/// second 60. Like Go, also accepts an hour of one digit, ',' before the fraction, and offsets up
/// to 24:60.
[[nodiscard]] std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept;

/// As above, with microseconds: accepts a fraction of any length and drops its further digits.
[[nodiscard]] std::optional<std::int64_t> parse_micros(std::string_view text) noexcept;

/// Writes "2006-01-02T15:04:05Z" to `out`, which has room for kSecondsTextSize characters. Returns
/// the number of characters written: 0 if `seconds` is out of range.
std::size_t format_seconds(std::int64_t seconds, char* out) noexcept;

/// Writes "2006-01-02T15:04:05.000000Z" to `out`, which has room for kMicrosTextSize characters.
/// Returns the number of characters written: 0 if `micros` is out of range.
std::size_t format_micros(std::int64_t micros, char* out) noexcept;

/// Converts an instant to a point of the system clock. The range of the clock is smaller than that
/// of the texts (1678 to 2261 if it counts nanoseconds); instants outside, including the zero time,
/// are clamped to its first or last point.
[[nodiscard]] std::chrono::system_clock::time_point time_point_from_seconds(
    std::int64_t seconds) noexcept;
/// As above, for an instant in microseconds.
[[nodiscard]] std::chrono::system_clock::time_point time_point_from_micros(
    std::int64_t micros) noexcept;

/// Converts a point of the system clock to an instant, rounded down.
[[nodiscard]] std::int64_t seconds_from_time_point(
    std::chrono::system_clock::time_point point) noexcept;
/// As above, in microseconds.
[[nodiscard]] std::int64_t micros_from_time_point(
    std::chrono::system_clock::time_point point) noexcept;

/// Parses a duration in Go's syntax, such as "1h2m3.5s", "300ms" or "-2us", to nanoseconds. Returns
/// nullopt if it is malformed or out of range. Units are ns, us (or µs), ms, s, m and h; only zero
/// needs none. Fractions of a nanosecond are dropped.
[[nodiscard]] std::optional<std::int64_t> parse_duration(std::string_view text) noexcept;

/// Formats a duration in Go's syntax: hours, minutes and seconds ("1h0m0.5s"); below one second the
/// largest unit with a non-zero whole part ("1.5ms", "2µs"); and "0s".
[[nodiscard]] std::string format_duration(std::int64_t nanoseconds);

}  // namespace kube::time_text
