// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/cron_schedule.hpp"

#include <kube/api/time.hpp>

#include <gtest/gtest.h>

#include <filesystem>

#include "testkit/simulation/time_zone.hpp"

namespace kube::testkit::detail {
namespace {

std::string next(std::string_view schedule, std::string_view after, const TimeZone& zone = {}) {
  const CronSchedule parsed = CronSchedule::parse(schedule);
  if (!parsed.problem().empty()) return parsed.problem();
  const auto time =
      parsed.next(std::chrono::sys_seconds{std::chrono::seconds{Time::parse(after).unix_seconds()}},
                  [&](std::chrono::sys_seconds at) { return zone.offset(at); });
  return time ? Time{*time}.str() : "never";
}

// SM-20
TEST(CronSchedule, FindsTheNextTime) {
  EXPECT_EQ(next("* * * * *", "2026-01-01T00:00:00Z"), "2026-01-01T00:01:00Z");
  EXPECT_EQ(next("* * * * *", "2026-01-01T00:00:59Z"), "2026-01-01T00:01:00Z");
  EXPECT_EQ(next("*/15 8-10 * * *", "2026-01-01T10:45:00Z"), "2026-01-02T08:00:00Z");
  EXPECT_EQ(next("0 0 29 2 *", "2026-01-01T00:00:00Z"), "2028-02-29T00:00:00Z");
  EXPECT_EQ(next("0 12 * * MON-FRI", "2026-01-02T12:00:00Z"), "2026-01-05T12:00:00Z");
  EXPECT_EQ(next("@monthly", "2026-01-01T00:00:00Z"), "2026-02-01T00:00:00Z");
  EXPECT_EQ(next("@every 90m", "2026-01-01T00:00:00Z"), "2026-01-01T01:30:00Z");
}

// SM-20: if day of month and day of week are both restricted, a match of either is enough.
TEST(CronSchedule, TakesEitherDayIfBothAreRestricted) {
  EXPECT_EQ(next("0 0 13 * FRI", "2026-01-01T00:00:00Z"), "2026-01-02T00:00:00Z");
  EXPECT_EQ(next("0 0 13 * *", "2026-01-01T00:00:00Z"), "2026-01-13T00:00:00Z");
}

// SM-20
TEST(CronSchedule, FindsNoTimeForImpossibleDates) {
  EXPECT_EQ(next("0 0 30 2 *", "2026-01-01T00:00:00Z"), "never");
}

// SM-20
TEST(TimeZone, KnowsSummerTime) {
  if (!std::filesystem::exists("/usr/share/zoneinfo/Europe/Berlin"))
    GTEST_SKIP() << "no time zone database is installed";
  const TimeZone berlin = TimeZone::load("Europe/Berlin");

  EXPECT_EQ(next("0 12 * * *", "2026-01-01T00:00:00Z", berlin), "2026-01-01T11:00:00Z");
  EXPECT_EQ(next("0 12 * * *", "2026-07-01T00:00:00Z", berlin), "2026-07-01T10:00:00Z");
}

// SM-20
TEST(TimeZone, IsUtcIfTheFileIsMalformed) {
  const std::chrono::sys_seconds now{std::chrono::seconds{1767225600}};
  EXPECT_EQ(TimeZone::parse("").offset(now).count(), 0);
  EXPECT_EQ(TimeZone::parse("TZif2 and too short").offset(now).count(), 0);
  EXPECT_EQ(TimeZone::parse("TZif2" + std::string(39, '\xff')).offset(now).count(), 0);
  EXPECT_EQ(TimeZone::load("../../etc/passwd").offset(now).count(), 0);
}

}  // namespace
}  // namespace kube::testkit::detail
