// SPDX-License-Identifier: Apache-2.0
#include "kube/api/time_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace kube::time_text {
namespace {

using std::chrono::system_clock;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::string seconds_text(std::int64_t seconds) {
  std::array<char, kSecondsTextSize> buffer{};
  return {buffer.data(), format_seconds(seconds, buffer.data())};
}

std::string micros_text(std::int64_t micros) {
  std::array<char, kMicrosTextSize> buffer{};
  return {buffer.data(), format_micros(micros, buffer.data())};
}

/// Parses a time to seconds since 1970.
std::optional<std::int64_t> unix_seconds(std::string_view text) {
  const std::optional<std::int64_t> seconds = parse_seconds(text);
  if (!seconds) return std::nullopt;
  return *seconds - kUnixEpochSeconds;
}

TEST(TimeText, CountsFromTheZeroTimeOfGo) {
  EXPECT_EQ(parse_seconds("0001-01-01T00:00:00Z"), 0);
  EXPECT_EQ(parse_seconds("1970-01-01T00:00:00Z"), kUnixEpochSeconds);
  EXPECT_EQ(parse_seconds("0000-01-01T00:00:00Z"), kMinSeconds);
  EXPECT_EQ(parse_seconds("9999-12-31T23:59:59Z"), kMaxSeconds);
  EXPECT_EQ(unix_seconds("2024-02-29T12:34:56Z"), 1'709'210'096);
}

TEST(TimeText, ReadsNumericOffsets) {
  EXPECT_EQ(unix_seconds("2006-01-02T15:04:05Z"), 1'136'214'245);
  EXPECT_EQ(unix_seconds("2006-01-02T15:04:05+00:00"), 1'136'214'245);
  EXPECT_EQ(unix_seconds("2006-01-02T08:04:05-07:00"), 1'136'214'245);
  EXPECT_EQ(unix_seconds("2006-01-02T20:49:05+05:45"), 1'136'214'245);
  EXPECT_EQ(unix_seconds("2006-01-03T15:04:05+24:00"), 1'136'214'245);
  EXPECT_EQ(unix_seconds("2006-01-02T16:04:05+00:60"), 1'136'214'245);
}

TEST(TimeText, TruncatesToThePrecision) {
  EXPECT_EQ(parse_seconds("0001-01-01T00:00:01.999999999Z"), 1);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:01.9999999Z"), 1'999'999);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:01.5Z"), 1'500'000);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:01.000001+00:00"), 1'000'001);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:01.0000009Z"), 1'000'000);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:01Z"), 1'000'000);
}

TEST(TimeText, RoundsDownBeforeTheZeroTimeToo) {
  EXPECT_EQ(parse_seconds("0000-12-31T23:59:59.5Z"), -1);
  EXPECT_EQ(parse_micros("0000-12-31T23:59:59.5Z"), -500'000);
  EXPECT_EQ(micros_text(-500'000), "0000-12-31T23:59:59.500000Z");
}

TEST(TimeText, AcceptsTheLibertiesThatGoAllows) {
  EXPECT_EQ(parse_seconds("0001-01-01T5:04:05Z"), 5 * 3600 + 4 * 60 + 5);
  EXPECT_EQ(parse_micros("0001-01-01T00:00:00,25Z"), 250'000);
}

TEST(TimeText, ChecksTheCalendar) {
  EXPECT_TRUE(parse_seconds("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_seconds("2000-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_seconds("0000-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2023-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("1900-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-04-31T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-01-32T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-01-00T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-00-01T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-13-01T00:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-01-01T24:00:00Z"));
  EXPECT_FALSE(parse_seconds("2024-01-01T00:60:00Z"));
  EXPECT_FALSE(parse_seconds("2016-12-31T23:59:60Z"));
}

TEST(TimeText, RejectsMalformedText) {
  for (const std::string_view text : std::to_array<std::string_view>({
           "",
           "Z",
           "2006",
           "2006-01-02",
           "2006-01-02T15:04Z",
           "2006-01-02T15:04:05",
           "2006-01-02 15:04:05Z",
           "2006-01-02t15:04:05Z",
           "2006-01-02T15:04:05z",
           "2006-01-02T15:04:05Z ",
           " 2006-01-02T15:04:05Z",
           "2006-01-02T15:04:05ZZ",
           "2006-01-02T15:04:05.Z",
           "2006-01-02T15:04:05.+01:00",
           "2006-01-02T15:04:05+0100",
           "2006-01-02T15:04:05+01",
           "2006-01-02T15:04:05+1:00",
           "2006-01-02T15:04:05+25:00",
           "2006-01-02T15:04:05+01:61",
           "2006-01-02T15:04:05*01:00",
           "2006-1-02T15:04:05Z",
           "2006-01-2T15:04:05Z",
           "2006-01-02T15:4:05Z",
           "2006-01-02T:04:05Z",
           "2006/01/02T15:04:05Z",
           "2006-01-02T15-04-05Z",
           "+006-01-02T15:04:05Z",
           "20060-01-02T15:04:05Z",
           "2006-01-02T15:04:0\xB2Z",
       })) {
    EXPECT_FALSE(parse_seconds(text)) << text;
    EXPECT_FALSE(parse_micros(text)) << text;
  }
}

TEST(TimeText, RejectsEveryTruncationAndEveryChangedSeparator) {
  const std::string text = "2006-01-02T15:04:05.123456+01:30";
  ASSERT_TRUE(parse_micros(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_micros(std::string(text, 0, size))) << size;
  }
  for (const std::size_t at : {4U, 7U, 10U, 13U, 16U, 26U, 29U}) {
    std::string changed = text;
    changed[at] = '/';
    EXPECT_FALSE(parse_micros(changed)) << changed;
  }
}

TEST(TimeText, RejectsInstantsThatLeaveTheYearsWithText) {
  EXPECT_TRUE(parse_seconds("0000-01-01T01:00:00+01:00"));
  EXPECT_FALSE(parse_seconds("0000-01-01T00:59:59+01:00"));
  EXPECT_TRUE(parse_seconds("9999-12-31T22:59:59-01:00"));
  EXPECT_FALSE(parse_seconds("9999-12-31T23:00:00-01:00"));
}

TEST(TimeText, WritesUtc) {
  EXPECT_EQ(seconds_text(0), "0001-01-01T00:00:00Z");
  EXPECT_EQ(seconds_text(kUnixEpochSeconds + 1'709'210'096), "2024-02-29T12:34:56Z");
  EXPECT_EQ(seconds_text(kMinSeconds), "0000-01-01T00:00:00Z");
  EXPECT_EQ(seconds_text(kMaxSeconds), "9999-12-31T23:59:59Z");
  EXPECT_EQ(micros_text(0), "0001-01-01T00:00:00.000000Z");
  EXPECT_EQ(micros_text(kUnixEpochSeconds * 1'000'000 + 1), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(micros_text(kMaxSeconds * 1'000'000 + 999'999), "9999-12-31T23:59:59.999999Z");
}

TEST(TimeText, WritesNothingOutOfRange) {
  for (const std::int64_t seconds : {kMinSeconds - 1, kMaxSeconds + 1, kMin, kMax}) {
    EXPECT_EQ(seconds_text(seconds), "") << seconds;
  }
  for (const std::int64_t micros :
       {kMinSeconds * 1'000'000 - 1, (kMaxSeconds + 1) * 1'000'000, kMin, kMax}) {
    EXPECT_EQ(micros_text(micros), "") << micros;
  }
}

TEST(TimeText, EveryDayReadsBackAsItself) {
  constexpr std::int64_t kDay = 86'400;
  std::string last;
  for (std::int64_t day = kMinSeconds; day <= kMaxSeconds; day += kDay) {
    const std::string text = seconds_text(day + 45'296);
    ASSERT_EQ(parse_seconds(text), day + 45'296) << text;
    ASSERT_LT(last, text);
    last = text;
  }
}

TEST(TimeText, RandomInstantsReadBackAsThemselves) {
  std::mt19937_64 random{3};  // NOLINT: the same instants on every run
  std::uniform_int_distribution<std::int64_t> micros(kMinSeconds * 1'000'000,
                                                     kMaxSeconds * 1'000'000);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t instant = micros(random);
    ASSERT_EQ(parse_micros(micros_text(instant)), instant);
  }
}

TEST(TimeText, ConvertsToAndFromTheSystemClock) {
  const system_clock::time_point epoch{};
  const auto later = epoch + std::chrono::microseconds{1'709'210'096'123'456};

  EXPECT_EQ(time_point_from_seconds(kUnixEpochSeconds), epoch);
  EXPECT_EQ(seconds_from_time_point(epoch), kUnixEpochSeconds);
  EXPECT_EQ(seconds_text(seconds_from_time_point(later)), "2024-02-29T12:34:56Z");
  EXPECT_EQ(micros_text(micros_from_time_point(later)), "2024-02-29T12:34:56.123456Z");
  EXPECT_EQ(time_point_from_micros(micros_from_time_point(later)), later);
  EXPECT_EQ(seconds_text(seconds_from_time_point(epoch - std::chrono::microseconds{1})),
            "1969-12-31T23:59:59Z");
}

TEST(TimeText, StaysWithinTheSystemClock) {
  for (const std::int64_t instant : {kMin, std::int64_t{0}}) {
    EXPECT_EQ(time_point_from_seconds(instant), system_clock::time_point::min());
    EXPECT_EQ(time_point_from_micros(instant), system_clock::time_point::min());
  }
  for (const std::int64_t instant : {kMax, kMaxSeconds * 1'000'000}) {
    EXPECT_EQ(time_point_from_seconds(instant), system_clock::time_point::max());
    EXPECT_EQ(time_point_from_micros(instant), system_clock::time_point::max());
  }
  const std::int64_t last = seconds_from_time_point(system_clock::time_point::max());
  EXPECT_EQ(seconds_from_time_point(time_point_from_seconds(last)), last);
  const std::int64_t first = seconds_from_time_point(system_clock::time_point::min()) + 1;
  EXPECT_EQ(seconds_from_time_point(time_point_from_seconds(first)), first);
}

struct DurationCase {
  std::string_view text;
  std::int64_t nanoseconds;
  std::string_view written;
};

// Results of Go's time package, obtained by running it.
constexpr auto kDurations = std::to_array<DurationCase>({
    {"0", 0, "0s"},
    {"-0", 0, "0s"},
    {"0s", 0, "0s"},
    {"0h0m", 0, "0s"},
    {"1ns", 1, "1ns"},
    {"1.9ns", 1, "1ns"},
    {"999ns", 999, "999ns"},
    {"1us", 1'000, "1\xC2\xB5s"},
    {"1\xC2\xB5s", 1'000, "1\xC2\xB5s"},
    {"1\xCE\xBCs", 1'000, "1\xC2\xB5s"},
    {"-2us", -2'000, "-2\xC2\xB5s"},
    {"1.5us", 1'500, "1.5\xC2\xB5s"},
    {"300ms", 300'000'000, "300ms"},
    {"1.25ms", 1'250'000, "1.25ms"},
    {"999999999ns", 999'999'999, "999.999999ms"},
    {"1s", 1'000'000'000, "1s"},
    {"1.000000001s", 1'000'000'001, "1.000000001s"},
    {"59.9s", 59'900'000'000, "59.9s"},
    {"60s", 60'000'000'000, "1m0s"},
    {"1m30s", 90'000'000'000, "1m30s"},
    {"90m", 5'400'000'000'000, "1h30m0s"},
    {"1.5h", 5'400'000'000'000, "1h30m0s"},
    {"1h2m3s", 3'723'000'000'000, "1h2m3s"},
    {"+1h", 3'600'000'000'000, "1h0m0s"},
    {"-1h2m3.5s", -3'723'500'000'000, "-1h2m3.5s"},
    {"3s2m1h", 3'723'000'000'000, "1h2m3s"},
    {"1s1s1s", 3'000'000'000, "3s"},
    {"1.s", 1'000'000'000, "1s"},
    {".5s", 500'000'000, "500ms"},
    {"0.7142857142857142857h", 2'571'428'571'428, "42m51.428571428s"},
    {"0.200000000000000000000h", 720'000'000'000, "12m0s"},
    {"0.123456789012345678900h", 444'444'440'444, "7m24.444440444s"},
    {"41h7m9.125s", 148'029'125'000'000, "41h7m9.125s"},
    {"8760h", 31'536'000'000'000'000, "8760h0m0s"},
    {"9223372036854775807ns", kMax, "2562047h47m16.854775807s"},
    {"2562047h47m16.854775807s", kMax, "2562047h47m16.854775807s"},
    {"-9223372036854775808ns", kMin, "-2562047h47m16.854775808s"},
    {"-2562047h47m16.854775808s", kMin, "-2562047h47m16.854775808s"},
});

TEST(DurationText, ReadsAndWritesAsGoDoes) {
  for (const DurationCase& row : kDurations) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_duration(row.text), row.nanoseconds);
    EXPECT_EQ(format_duration(row.nanoseconds), row.written);
    EXPECT_EQ(parse_duration(row.written), row.nanoseconds);
  }
}

TEST(DurationText, RejectsMalformedText) {
  for (const std::string_view text : std::to_array<std::string_view>(
           {"",     "-",  "+",   "s",         ".",      ".s",     "-.s",   "+.s",  "1",
            "1.5",  "00", "1d",  "1 s",       " 1s",    "1s ",    "1h 2m", "--1s", "1s-1s",
            "1e3s", "1S", "1sm", "\xC2\xB5s", "1\xC2s", "1.5.5s", "h1",    "1,5s"})) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_FALSE(parse_duration(std::string_view("1s\0", 3)));
}

TEST(DurationText, RejectsOverflow) {
  for (const std::string_view text : std::to_array<std::string_view>(
           {"9223372036854775808ns", "-9223372036854775809ns", "9223372036854776us", "2562048h",
            "2562047h47m16.854775808s", "9223372036854775807ns1ns", "99999999999999999999s",
            "18446744073709551616ns",
            // Two halves whose sum would wrap to zero.
            "9223372036854775808ns9223372036854775808ns"})) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(DurationText, LongTextsAreHarmless) {
  const std::string digits(1'000'000, '9');
  EXPECT_FALSE(parse_duration(digits + "s"));
  EXPECT_EQ(parse_duration("0." + digits + "s"), 1'000'000'000);
  EXPECT_EQ(parse_duration(std::string(1'000'000, '0') + "1s"), 1'000'000'000);
  EXPECT_FALSE(parse_duration("1" + std::string(1'000'000, 's')));
  EXPECT_FALSE(parse_seconds("2006-01-02T15:04:05." + digits));
  EXPECT_TRUE(parse_seconds("2006-01-02T15:04:05." + digits + "Z"));
}

}  // namespace
}  // namespace kube::time_text
