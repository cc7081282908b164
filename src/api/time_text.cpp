// SPDX-License-Identifier: Apache-2.0
#include "kube/api/time_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace kube::time_text {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// ---- Calendar -----------------------------------------------------------------------------------

// Years start on 1 March, so that the leap day is the last day, and are counted from 400 years
// before year 0, so that no number is negative.
constexpr std::uint32_t kDaysPerEra = 146'097;               // 400 years
constexpr std::uint32_t kDaysToYearOne = kDaysPerEra + 306;  // until 0001-01-01

/// Returns the days from 0001-01-01 to the given day of the proleptic Gregorian calendar.
constexpr std::int64_t days_from_date(std::uint32_t year, std::uint32_t month, std::uint32_t day) {
  const std::uint32_t y = year + 400 - (month <= 2 ? 1 : 0);
  const std::uint32_t months = month > 2 ? month - 3 : month + 9;
  const std::uint32_t day_of_year = (153 * months + 2) / 5 + day - 1;
  const std::uint32_t days = y * 365 + y / 4 - y / 100 + y / 400 + day_of_year;
  return std::int64_t{days} - kDaysToYearOne;
}

struct Date {
  std::uint32_t year = 0;
  std::uint32_t month = 0;
  std::uint32_t day = 0;
};

/// Inverse of days_from_date(), for the years 0000 to 9999.
constexpr Date date_from_days(std::int64_t days) {
  const auto counted = static_cast<std::uint32_t>(days + kDaysToYearOne);
  const std::uint32_t era = counted / kDaysPerEra;
  const std::uint32_t day = counted % kDaysPerEra;
  const std::uint32_t year = (day - day / 1460 + day / 36'524 - day / 146'096) / 365;
  const std::uint32_t day_of_year = day - (year * 365 + year / 4 - year / 100);
  const std::uint32_t months = (5 * day_of_year + 2) / 153;
  Date date;
  date.day = day_of_year - (153 * months + 2) / 5 + 1;
  date.month = months < 10 ? months + 3 : months - 9;
  date.year = era * 400 + year - 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

static_assert(days_from_date(1, 1, 1) == 0);
static_assert(days_from_date(1970, 1, 1) * kSecondsPerDay == kUnixEpochSeconds);
static_assert(days_from_date(0, 1, 1) * kSecondsPerDay == kMinSeconds);
static_assert((days_from_date(9999, 12, 31) + 1) * kSecondsPerDay - 1 == kMaxSeconds);

constexpr std::uint32_t days_in_month(std::uint32_t year, std::uint32_t month) {
  constexpr std::array<std::uint8_t, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// ---- Reading instants ---------------------------------------------------------------------------

/// Result of two_digits() for non-digits; out of range for every field.
constexpr std::uint32_t kNoNumber = 100;

constexpr std::uint32_t two_digits(const char* text) {
  const std::uint32_t tens = static_cast<unsigned char>(text[0]) - std::uint32_t{'0'};
  const std::uint32_t ones = static_cast<unsigned char>(text[1]) - std::uint32_t{'0'};
  return tens > 9 || ones > 9 ? kNoNumber : tens * 10 + ones;
}

struct Instant {
  std::int64_t seconds = 0;
  std::int64_t micros = 0;  // 0 to 999'999
};

/// Combines the fields after validating all of them.
std::optional<std::int64_t> seconds_of(const char* date, std::uint32_t hour, std::uint32_t minute,
                                       std::uint32_t second) {
  const std::uint32_t century = two_digits(date);
  const std::uint32_t year_of_century = two_digits(date + 2);
  const std::uint32_t month = two_digits(date + 5);
  const std::uint32_t day = two_digits(date + 8);
  if (century == kNoNumber || year_of_century == kNoNumber || month < 1 || month > 12 ||
      hour > 23 || minute > 59 || second > 59 || date[4] != '-' || date[7] != '-' ||
      date[10] != 'T') {
    return std::nullopt;
  }
  const std::uint32_t year = century * 100 + year_of_century;
  if (day < 1 || day > days_in_month(year, month)) return std::nullopt;
  return days_from_date(year, month, day) * kSecondsPerDay + std::int64_t{hour} * 3600 +
         std::int64_t{minute} * 60 + second;
}

/// Parses the whole of `text`, "Z" or "+hh:mm", as seconds east of Greenwich.
std::optional<std::int64_t> parse_offset(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const std::uint32_t hours = two_digits(text.data() + 1);
  const std::uint32_t minutes = two_digits(text.data() + 4);
  if (hours > 24 || minutes > 60) return std::nullopt;
  const std::int64_t offset = (std::int64_t{hours} * 60 + minutes) * 60;
  return text[0] == '-' ? -offset : offset;
}

/// Parses any accepted form. Parsed parts are removed from the front of `text`.
std::optional<Instant> parse_instant(std::string_view text) {
  constexpr std::size_t kDateSize = 11;  // 2006-01-02T
  constexpr std::size_t kClockSize = 6;  // :04:05, after the hour
  if (text.size() < kDateSize + 1 + kClockSize) return std::nullopt;
  const char* const date = text.data();
  text.remove_prefix(kDateSize);

  std::uint32_t hour = two_digits(text.data());
  if (hour == kNoNumber && is_digit(text[0])) {
    hour = static_cast<std::uint32_t>(text[0] - '0');
    text.remove_prefix(1);
  } else {
    text.remove_prefix(2);
  }
  if (text.size() < kClockSize || text[0] != ':' || text[3] != ':') return std::nullopt;
  const std::optional<std::int64_t> seconds =
      seconds_of(date, hour, two_digits(text.data() + 1), two_digits(text.data() + 4));
  if (!seconds) return std::nullopt;
  text.remove_prefix(kClockSize);

  Instant instant{.seconds = *seconds};
  if (text.size() >= 2 && (text[0] == '.' || text[0] == ',') && is_digit(text[1])) {
    std::int64_t unit = kMicrosPerSecond;
    std::size_t end = 1;
    for (; end < text.size() && is_digit(text[end]); ++end) {
      unit /= 10;
      instant.micros += unit * (text[end] - '0');
    }
    text.remove_prefix(end);
  }

  const std::optional<std::int64_t> offset = parse_offset(text);
  if (!offset) return std::nullopt;
  instant.seconds -= *offset;
  if (instant.seconds < kMinSeconds || instant.seconds > kMaxSeconds) return std::nullopt;
  return instant;
}

/// Fast path for the form that servers write, "2006-01-02T15:04:05Z".
std::optional<std::int64_t> parse_usual(std::string_view text) {
  if (text.size() != kSecondsTextSize) return std::nullopt;
  const char* const p = text.data();
  if (p[13] != ':' || p[16] != ':' || p[19] != 'Z') return std::nullopt;
  return seconds_of(p, two_digits(p + 11), two_digits(p + 14), two_digits(p + 17));
}

// ---- Writing instants ---------------------------------------------------------------------------

/// Writes a number below 100 as two digits. Returns the end.
char* write_two_digits(char* out, std::uint32_t number) {
  out[0] = static_cast<char>('0' + number / 10);
  out[1] = static_cast<char>('0' + number % 10);
  return out + 2;
}

/// Writes "2006-01-02T15:04:05". Returns the end.
char* write_date_and_clock(char* out, std::int64_t seconds) {
  // Counted from year 0, so that the division rounds down.
  const std::int64_t since_year_zero = seconds - kMinSeconds;
  const Date date = date_from_days(since_year_zero / kSecondsPerDay + kMinSeconds / kSecondsPerDay);
  const auto of_day = static_cast<std::uint32_t>(since_year_zero % kSecondsPerDay);
  out = write_two_digits(out, date.year / 100);
  out = write_two_digits(out, date.year % 100);
  *out++ = '-';
  out = write_two_digits(out, date.month);
  *out++ = '-';
  out = write_two_digits(out, date.day);
  *out++ = 'T';
  out = write_two_digits(out, of_day / 3600);
  *out++ = ':';
  out = write_two_digits(out, of_day / 60 % 60);
  *out++ = ':';
  return write_two_digits(out, of_day % 60);
}

// ---- Clock --------------------------------------------------------------------------------------

constexpr std::int64_t floor_divide(std::int64_t number, std::int64_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

/// Returns the clock's point at a count of `Unit` since 1970, clamped to the range of the clock.
template <typename Unit>
std::chrono::system_clock::time_point nearest_point(Unit since_epoch) {
  using Point = std::chrono::system_clock::time_point;
  if (since_epoch > std::chrono::floor<Unit>(Point::max().time_since_epoch())) return Point::max();
  if (since_epoch < std::chrono::ceil<Unit>(Point::min().time_since_epoch())) return Point::min();
  return Point{std::chrono::duration_cast<Point::duration>(since_epoch)};
}

// ---- Durations ----------------------------------------------------------------------------------

/// The magnitude of the most negative duration, which is one more than that of the largest.
constexpr std::uint64_t kMaxMagnitude = std::uint64_t{1} << 63U;

/// Returns the nanoseconds in a unit, or 0 for an unknown unit.
constexpr std::uint64_t unit_size(std::string_view unit) {
  if (unit == "ns") return 1;
  // The micro sign, U+00B5, and the Greek letter mu, U+03BC, in UTF-8.
  if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  return 0;
}

/// The digits after a decimal point, as number / scale. Digits that do not fit are ignored.
struct Fraction {
  std::uint64_t number = 0;
  double scale = 1;
};

Fraction take_fraction(std::string_view& text) {
  Fraction fraction;
  bool full = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    if (full) continue;
    if (fraction.number > (kMaxMagnitude - 1) / 10) {
      full = true;
      continue;
    }
    const std::uint64_t next =
        fraction.number * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (next > kMaxMagnitude) {
      full = true;
      continue;
    }
    fraction.number = next;
    fraction.scale *= 10;
  }
  return fraction;
}

/// Removes one number with its unit from the front. Returns it in nanoseconds.
std::optional<std::uint64_t> take_term(std::string_view& text) {
  std::uint64_t whole = 0;
  bool has_digits = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    has_digits = true;
    if (whole > kMaxMagnitude / 10) return std::nullopt;
    whole = whole * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (whole > kMaxMagnitude) return std::nullopt;
  }
  Fraction fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::size_t before = text.size();
    fraction = take_fraction(text);
    has_digits = has_digits || text.size() != before;
  }
  if (!has_digits) return std::nullopt;

  const std::size_t end = text.find_first_of(".0123456789");
  const std::uint64_t unit = unit_size(text.substr(0, end));
  if (unit == 0 || whole > kMaxMagnitude / unit) return std::nullopt;
  text.remove_prefix(std::min(end, text.size()));
  // Go computes the fraction in floating point in this order; another order would result in other
  // nanoseconds for the same text.
  const double rest =
      static_cast<double>(fraction.number) * (static_cast<double>(unit) / fraction.scale);
  const std::uint64_t total = whole * unit + static_cast<std::uint64_t>(rest);
  if (total > kMaxMagnitude) return std::nullopt;
  return total;
}

/// Writes a number so that it ends at `end`. Returns its start.
char* write_number_before(char* end, std::uint64_t number) {
  do {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return end;
}

/// Writes number / 10^places so that it ends at `end`, without trailing zeros of the fraction.
char* write_decimal_before(char* end, std::uint64_t number, int places) {
  bool written = false;
  for (int i = 0; i < places; ++i, number /= 10) {
    const auto digit = static_cast<char>('0' + number % 10);
    written = written || digit != '0';
    if (written) *--end = digit;
  }
  if (written) *--end = '.';
  return write_number_before(end, number);
}

char* write_before(char* end, std::string_view text) {
  end -= text.size();
  text.copy(end, text.size());
  return end;
}

}  // namespace

std::optional<std::int64_t> parse_seconds(std::string_view text) noexcept {
  if (const std::optional<std::int64_t> seconds = parse_usual(text)) return seconds;
  const std::optional<Instant> instant = parse_instant(text);
  if (!instant) return std::nullopt;
  return instant->seconds;
}

std::optional<std::int64_t> parse_micros(std::string_view text) noexcept {
  const std::optional<Instant> instant = parse_instant(text);
  if (!instant) return std::nullopt;
  return instant->seconds * kMicrosPerSecond + instant->micros;
}

std::size_t format_seconds(std::int64_t seconds, char* out) noexcept {
  if (seconds < kMinSeconds || seconds > kMaxSeconds) return 0;
  *write_date_and_clock(out, seconds) = 'Z';
  return kSecondsTextSize;
}

std::size_t format_micros(std::int64_t micros, char* out) noexcept {
  const std::int64_t seconds = floor_divide(micros, kMicrosPerSecond);
  if (seconds < kMinSeconds || seconds > kMaxSeconds) return 0;
  char* end = write_date_and_clock(out, seconds);
  *end++ = '.';
  const auto fraction = static_cast<std::uint32_t>(micros - seconds * kMicrosPerSecond);
  end = write_two_digits(end, fraction / 10'000);
  end = write_two_digits(end, fraction / 100 % 100);
  end = write_two_digits(end, fraction % 100);
  *end = 'Z';
  return kMicrosTextSize;
}

std::chrono::system_clock::time_point time_point_from_seconds(std::int64_t seconds) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  if (seconds < Limits::min() + kUnixEpochSeconds) {
    return std::chrono::system_clock::time_point::min();
  }
  return nearest_point(std::chrono::seconds{seconds - kUnixEpochSeconds});
}

std::chrono::system_clock::time_point time_point_from_micros(std::int64_t micros) noexcept {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t kEpoch = kUnixEpochSeconds * kMicrosPerSecond;
  if (micros < Limits::min() + kEpoch) return std::chrono::system_clock::time_point::min();
  return nearest_point(std::chrono::microseconds{micros - kEpoch});
}

std::int64_t seconds_from_time_point(std::chrono::system_clock::time_point point) noexcept {
  return std::chrono::floor<std::chrono::seconds>(point.time_since_epoch()).count() +
         kUnixEpochSeconds;
}

std::int64_t micros_from_time_point(std::chrono::system_clock::time_point point) noexcept {
  return std::chrono::floor<std::chrono::microseconds>(point.time_since_epoch()).count() +
         kUnixEpochSeconds * kMicrosPerSecond;
}

std::optional<std::int64_t> parse_duration(std::string_view text) noexcept {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::optional<std::uint64_t> term = take_term(text);
    if (!term || *term > kMaxMagnitude - total) return std::nullopt;
    total += *term;
  }
  if (negative) return static_cast<std::int64_t>(0 - total);
  if (total == kMaxMagnitude) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string format_duration(std::int64_t nanoseconds) {
  constexpr std::uint64_t kMicrosecond = 1'000;
  constexpr std::uint64_t kMillisecond = 1'000'000;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto bits = static_cast<std::uint64_t>(nanoseconds);
  std::uint64_t rest = nanoseconds < 0 ? 0 - bits : bits;
  if (rest == 0) return "0s";

  std::array<char, 32> buffer{};  // the longest is -2562047h47m16.854775808s
  char* const end = buffer.data() + buffer.size();
  char* start = end;
  if (rest < kMicrosecond) {
    start = write_number_before(write_before(start, "ns"), rest);
  } else if (rest < kMillisecond) {
    start = write_decimal_before(write_before(start, "\xC2\xB5s"), rest, 3);
  } else if (rest < kSecond) {
    start = write_decimal_before(write_before(start, "ms"), rest, 6);
  } else {
    const std::uint64_t minutes = rest / (60 * kSecond);
    start = write_decimal_before(write_before(start, "s"), rest % (60 * kSecond), 9);
    if (minutes > 0) start = write_number_before(write_before(start, "m"), minutes % 60);
    if (minutes >= 60) start = write_number_before(write_before(start, "h"), minutes / 60);
  }
  if (nanoseconds < 0) *--start = '-';
  return {start, end};
}

}  // namespace kube::time_text
