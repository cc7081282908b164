// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// Bounds of the years 1 to 9999, in seconds since 1970.
inline constexpr std::int64_t kFirstSecond = -62'135'596'800;
inline constexpr std::int64_t kLastSecond = 253'402'300'799;

/// Formats a timestamp like "2006-01-02T15:04:05.5Z".
[[nodiscard]] std::string timestamp_text(const Timestamp& time);
/// Formats a duration like "90.5s".
[[nodiscard]] std::string duration_text(const Duration& duration);
/// Parses RFC 3339 with nanoseconds. Returns nothing if the text is invalid or outside of these
/// years.
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text);

/// A date and time of day, split into components.
struct Calendar {
  std::int64_t year = 0;
  int month = 0;        ///< zero-based
  int day = 0;          ///< of the month, zero-based
  int day_of_year = 0;  ///< zero-based
  int day_of_week = 0;  ///< 0 is Sunday
  int hour = 0;
  int minute = 0;
  int second = 0;
};
[[nodiscard]] Calendar calendar_of(std::int64_t seconds);

/// Returns the offset in seconds of a zone such as "", "UTC", "02:00" or "-08:00". Returns nothing
/// for named zones.
[[nodiscard]] std::optional<std::int64_t> zone_offset(std::string_view zone);

}  // namespace kube::testkit::cel
