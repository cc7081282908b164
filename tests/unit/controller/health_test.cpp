// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/health.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace kube {
namespace {

// CF-44: without any check the result is success.
TEST(HealthChecks, AreFineWithoutAny) {
  const HealthChecks checks;
  EXPECT_EQ(checks.answer("", "").status, 200);
  EXPECT_EQ(checks.answer("", "").body, "ok");
  EXPECT_EQ(checks.answer("/", "verbose").body, "[+]ping ok\nhealthz check passed\n");
  EXPECT_EQ(checks.answer("/ping", "").body, "ok");
  EXPECT_EQ(checks.answer("/other", "").status, 404);
}

// CF-44
TEST(HealthChecks, NameTheFailedCheckButNotTheReason) {
  HealthChecks checks;
  bool broken = false;
  checks.add("b", ping());
  checks.add("a", [&]() -> std::optional<std::string> {
    if (broken) return "the disk of host-7 is full";
    return std::nullopt;
  });
  EXPECT_EQ(checks.answer("", "").body, "ok");
  EXPECT_EQ(checks.answer("", "verbose").body, "[+]a ok\n[+]b ok\nhealthz check passed\n");
  EXPECT_EQ(checks.answer("/a", "").body, "ok");

  broken = true;
  const HttpReply all = checks.answer("", "");
  EXPECT_EQ(all.status, 500);
  EXPECT_EQ(all.body, "[-]a failed: reason withheld\n[+]b ok\nhealthz check failed\n");
  EXPECT_EQ(checks.answer("/b", "").status, 200);
  EXPECT_EQ(checks.answer("/a", "").status, 500);
  EXPECT_EQ(checks.answer("/c", "").status, 404);

  EXPECT_EQ(checks.answer("", "exclude=a").body, "ok");
  EXPECT_EQ(checks.answer("", "exclude=a&verbose&exclude=none").body,
            "[+]a excluded: ok\n[+]b ok\nwarn: some checks that were to be excluded do not exist\n"
            "healthz check passed\n");
}

// CF-44: a check that throws has failed.
TEST(HealthChecks, TreatExceptionsAsFailures) {
  HealthChecks checks;
  checks.add("a", []() -> std::optional<std::string> { throw std::runtime_error{"no"}; });
  checks.add("b", []() -> std::optional<std::string> { throw 42; });
  EXPECT_EQ(checks.answer("", "").status, 500);
  EXPECT_EQ(checks.answer("/a", "").body, "internal server error: no\n");
  EXPECT_EQ(checks.answer("/b", "").status, 500);
}

TEST(HealthChecks, HaveNamesThatFitIntoPaths) {
  HealthChecks checks;
  checks.add("a", ping());
  EXPECT_THROW(checks.add("a", ping()), std::invalid_argument);
  EXPECT_THROW(checks.add("", ping()), std::invalid_argument);
  EXPECT_THROW(checks.add("a/b", ping()), std::invalid_argument);
}

}  // namespace
}  // namespace kube
