// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/name_rules.hpp"

#include <gmock/gmock.h>

#include <string>

#include "testkit/validation/cron_schedule.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NameRules, ReportEveryProblem) {
  EXPECT_THAT(dns1123_label_problems("web-0"), IsEmpty());
  EXPECT_THAT(dns1123_label_problems("web.0"), ElementsAre("must not contain dots"));
  EXPECT_EQ(dns1123_label_problems(std::string(64, 'a')).size(), 1U);
  EXPECT_EQ(dns1123_label_problems(std::string(64, '-')).size(), 2U);
  EXPECT_THAT(dns1123_subdomain_problems("a.b-c.d"), IsEmpty());
  EXPECT_EQ(dns1123_subdomain_problems("a..b").size(), 1U);
  EXPECT_THAT(qualified_name_problems("example.com/Name_1"), IsEmpty());
  EXPECT_EQ(qualified_name_problems("a/b/c").size(), 1U);
  EXPECT_EQ(qualified_name_problems("/").size(), 3U);
  EXPECT_THAT(label_value_problems(""), IsEmpty());
  EXPECT_THAT(wildcard_subdomain_problems("*.example.com"), IsEmpty());
  EXPECT_EQ(wildcard_subdomain_problems("*.*.com").size(), 1U);
  EXPECT_THAT(port_name_problems("a--b"), ElementsAre("must not contain consecutive hyphens"));
  EXPECT_THAT(path_segment_problems(".."), ElementsAre("may not be '..'"));
}

TEST(NameRules, ValidateAddressesAndRanges) {
  EXPECT_THAT(canonical_ip_problems("10.0.0.1"), IsEmpty());
  EXPECT_THAT(canonical_ip_problems("fd00::1"), IsEmpty());
  EXPECT_THAT(canonical_ip_problems("FD00:0::1"),
              ElementsAre("must be in canonical form (\"fd00::1\")"));
  EXPECT_THAT(canonical_ip_problems("010.0.0.1"), ElementsAre("must not have leading 0s"));
  EXPECT_EQ(ip_problems(std::string_view{"10.0.0.1\0", 9}).size(), 1U);
  EXPECT_TRUE(is_strict_subnet("10.1.0.0/16", "10.0.0.0/8"));
  EXPECT_FALSE(is_strict_subnet("10.0.0.0/8", "10.0.0.0/8"));
  EXPECT_FALSE(is_strict_subnet("11.0.0.0/16", "10.0.0.0/8"));
  EXPECT_FALSE(is_strict_subnet("fd00::/64", "10.0.0.0/8"));
  EXPECT_TRUE(is_strict_subnet("fd00:0:0:1::/64", "fd00::/48"));
  EXPECT_TRUE(has_host_bits("10.9.0.1/16"));
  EXPECT_FALSE(has_host_bits("10.9.0.0/16"));
  EXPECT_EQ(special_ip_problems("169.254.1.1").size(), 1U);
  EXPECT_EQ(special_ip_problems("::1").size(), 1U);
}

TEST(CronSchedule, AcceptsFieldsNamesStepsAndDescriptors) {
  for (const char* good : {"* * * * *", "*/5 1-3,7 1 jan MON-FRI", "0 0 31 12 0", "59 23 ? * ?",
                           "@yearly", "@hourly", "@every 1h30m", "  5   4 * *  sun "}) {
    EXPECT_EQ(cron_schedule_problem(good), "") << good;
  }
}

TEST(CronSchedule, ReportsErrors) {
  EXPECT_EQ(cron_schedule_problem("bad"), "expected exactly 5 fields, found 1: [bad]");
  EXPECT_EQ(cron_schedule_problem("60 * * * *"), "end of range (60) above maximum (59): 60");
  EXPECT_EQ(cron_schedule_problem("* * 0 * *"), "beginning of range (0) below minimum (1): 0");
  EXPECT_EQ(cron_schedule_problem("5-1 * * * *"),
            "beginning of range (5) beyond end of range (1): 5-1");
  EXPECT_EQ(cron_schedule_problem("*/0 * * * *"), "step of range should be a positive number: */0");
  EXPECT_EQ(cron_schedule_problem("1-2-3 * * * *"), "too many hyphens: 1-2-3");
  EXPECT_EQ(cron_schedule_problem("@never"), "unrecognized descriptor: @never");
  EXPECT_NE(cron_schedule_problem("@every soon"), "");
  EXPECT_NE(cron_schedule_problem("x * * * *"), "");
  EXPECT_NE(cron_schedule_problem(", * * * *"), "");
}

}  // namespace
}  // namespace kube::testkit::detail
