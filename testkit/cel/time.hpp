// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/cel/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube::testkit::cel {

/// The years 1 to 9999, in seconds since 1970.
inline constexpr std::int64_t kFirstSecond = -62'135'596'800;
inline constexpr std::int64_t kLastSecond = 253'402'300'799;

/// "2006-01-02T15:04:05.5Z".
[[nodiscard]] std::string timestamp_text(const Timestamp& time);
/// "90.5s".
[[nodiscard]] std::string duration_text(const Duration& duration);
/// RFC 3339 with nanoseconds; nothing if it is not a time of these years.
[[nodiscard]] std::optional<Timestamp> parse_timestamp(std::string_view text);

/// A day and a time of day.
struct Calendar {
  std::int64_t year = 0;
  int month = 0;        ///< from 0
  int day = 0;          ///< of the month, from 0
  int day_of_year = 0;  ///< from 0
  int day_of_week = 0;  ///< from Sunday
  int hour = 0;
  int minute = 0;
  int second = 0;
};
[[nodiscard]] Calendar calendar_of(std::int64_t seconds);

/// The offset in seconds of a zone that is written as one: "", "UTC", "02:00", "-08:00". Nothing for names of zones.
[[nodiscard]] std::optional<std::int64_t> zone_offset(std::string_view zone);

}  // namespace kube::testkit::cel
