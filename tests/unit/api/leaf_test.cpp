// SPDX-License-Identifier: Apache-2.0
#include <kube/api/leaf.hpp>

#include <gtest/gtest.h>

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(Time, UnsetIsTheFirstSecondOfYearOne) {
  EXPECT_FALSE(Time{}.is_set());
  EXPECT_EQ(Time::parse("0001-01-01T00:00:00Z"), Time{});
  EXPECT_EQ(Time{}.str(), "");
}

TEST(Time, TruncatesToSeconds) {
  EXPECT_EQ(Time::parse("2026-01-31T12:00:00.999Z").str(), "2026-01-31T12:00:00Z");
  EXPECT_EQ(Time::parse("2026-01-31T12:00:00+02:00").str(), "2026-01-31T10:00:00Z");
  EXPECT_EQ(Time::from_unix(0).str(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(Time{Time::from_unix(86400).time_point()}.unix_seconds(), 86400);
}

TEST(Time, QuotesInvalidTextInErrors) {
  try {
    static_cast<void>(Time::parse("yesterday"));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "expected RFC 3339 time, found \"yesterday\"");
  }
}

TEST(MicroTime, KeepsMicroseconds) {
  EXPECT_EQ(MicroTime::parse("2026-01-31T12:00:00.1234567Z").str(), "2026-01-31T12:00:00.123456Z");
  EXPECT_LT(MicroTime::parse("2026-01-31T12:00:00.1Z"), MicroTime::parse("2026-01-31T12:00:00.2Z"));
}

TEST(Duration, IsWrittenAsGoDoes) {
  EXPECT_EQ(Duration{90min}.str(), "1h30m0s");
  EXPECT_EQ(Duration::parse("1.5h").length(), 90min);
  EXPECT_THROW(Duration::parse("soon"), std::invalid_argument);
}

TEST(Quantity, ComparesAndAddsByAmount) {
  EXPECT_EQ(Quantity{"1"}, Quantity{"1000m"});
  EXPECT_LT(Quantity{"1G"}, Quantity{"1Gi"});
  EXPECT_EQ((Quantity{"500m"} + Quantity{"1500m"}).text(), "2");
  EXPECT_EQ(Quantity{"1.5Gi"}.canonical().text(), "1536Mi");
  EXPECT_EQ(Quantity{}.text(), "0");
  EXPECT_FALSE(Quantity{}.is_set());
  EXPECT_EQ(Quantity{"100m"}.value(), 1);
  EXPECT_EQ(Quantity{"1.5"}.milli_value(), 1500);
  EXPECT_THROW(Quantity{"much"}, std::invalid_argument);
}

TEST(IntOrString, IsEither) {
  EXPECT_EQ(IntOrString{80}.number(), 80);
  EXPECT_EQ(IntOrString{"http"}.text(), "http");
  EXPECT_EQ(IntOrString{80}.str(), "80");
  EXPECT_NE(IntOrString{80}, IntOrString{"80"});
  EXPECT_FALSE(IntOrString{}.is_set());
}

TEST(IntOrString, ScalesPercentages) {
  EXPECT_EQ(IntOrString{3}.scaled(10, true), 3);
  EXPECT_EQ(IntOrString{"25%"}.scaled(10, true), 3);
  EXPECT_EQ(IntOrString{"25%"}.scaled(10, false), 2);
  EXPECT_EQ(IntOrString{"100%"}.scaled(INT64_MAX / 1000, true), INT64_MAX / 1000);
  EXPECT_THROW(static_cast<void>(IntOrString{"25"}.scaled(10, true)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(IntOrString{"%"}.scaled(10, true)), std::invalid_argument);
}

TEST(FieldsV1, ReadsBackWhatWasCutIntoPieces) {
  const std::string json = R"({"f:podIPs":{".":{},"k:{\"ip\":\"10.0.0.7\"}":{".":{},"f:ip":{}}}})";

  EXPECT_EQ(FieldsV1{json}.str(), json);
  EXPECT_EQ(FieldsV1{json}, FieldsV1{json});
  EXPECT_FALSE(FieldsV1{}.is_set());
}

}  // namespace
}  // namespace kube
