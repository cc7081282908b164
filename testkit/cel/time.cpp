// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/time.hpp"

#include "testkit/cel/characters.hpp"
#include "testkit/cel/literal.hpp"

#include <kube/api/time_text.hpp>

#include <fmt/format.h>

#include <chrono>

namespace kube::testkit::cel {

namespace {

/// Converts the digits after the decimal point of the seconds to nanoseconds.
std::int32_t fraction_of(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  std::int32_t nanos = 0;
  int digits = 0;
  for (std::size_t i = point + 1; i < text.size() && is_digit(text[i]) && digits < 9;
       ++i, ++digits) {
    nanos = nanos * 10 + (text[i] - '0');
  }
  for (; digits < 9; ++digits) nanos *= 10;
  return nanos;
}

}  // namespace

std::string timestamp_text(const Timestamp& time) {
  const Calendar at = calendar_of(time.seconds);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", at.year, at.month + 1,
                                 at.day + 1, at.hour, at.minute, at.second);
  if (time.nanos != 0) {
    std::string fraction = fmt::format(".{:09}", time.nanos);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  return text + 'Z';
}

std::string duration_text(const Duration& duration) {
  return double_text(static_cast<double>(duration.nanos) / 1e9) + 's';
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  const auto seconds = time_text::parse_seconds(text);
  if (!seconds) return std::nullopt;
  const Timestamp time{*seconds - time_text::kUnixEpochSeconds, fraction_of(text)};
  if (time.seconds < kFirstSecond || time.seconds > kLastSecond) return std::nullopt;
  return time;
}

Calendar calendar_of(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds{seconds}};
  const sys_days day = floor<days>(time);
  const year_month_day date{day};
  const std::int64_t rest = (time - day).count();
  Calendar at;
  at.year = static_cast<int>(date.year());
  at.month = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  at.day = static_cast<int>(static_cast<unsigned>(date.day())) - 1;
  at.day_of_year = static_cast<int>((day - sys_days{date.year() / January / 1}).count());
  at.day_of_week = static_cast<int>(weekday{day}.c_encoding());
  at.hour = static_cast<int>(rest / 3600);
  at.minute = static_cast<int>(rest / 60 % 60);
  at.second = static_cast<int>(rest % 60);
  return at;
}

std::optional<std::int64_t> zone_offset(std::string_view zone) {
  if (zone.empty() || zone == "UTC") return 0;
  std::int64_t sign = 1;
  if (zone.front() == '-' || zone.front() == '+') {
    if (zone.front() == '-') sign = -1;
    zone.remove_prefix(1);
  }
  if (zone.size() != 5 || zone[2] != ':') return std::nullopt;
  for (const std::size_t i : {0, 1, 3, 4}) {
    if (!is_digit(zone[i])) return std::nullopt;
  }
  const std::int64_t hours = (zone[0] - '0') * 10 + (zone[1] - '0');
  const std::int64_t minutes = (zone[3] - '0') * 10 + (zone[4] - '0');
  return sign * (hours * 3600 + minutes * 60);
}

}  // namespace kube::testkit::cel
