// SPDX-License-Identifier: Apache-2.0
#include <kube/base/byte_budget.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <memory>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct ByteBudgetTest : testing::Test {
  testkit::FakeClock clock;
  std::shared_ptr<ByteBudget> budget = std::make_shared<ByteBudget>(1'000'000);
};

TEST_F(ByteBudgetTest, CountsWhatStreamsHoldAndGetsItBack) {
  {
    ByteAccount one{budget, clock, "one"};
    ByteAccount two{budget, clock, "two"};
    one.hold(600'000);
    two.hold(400'000);
    EXPECT_EQ(budget->used(), 1'000'000U);
    EXPECT_EQ(budget->share(), 500'000U);
    EXPECT_FALSE(one.is_crowded());
    two.hold(401'000);
    EXPECT_TRUE(one.is_crowded());
    one.hold(10'000);
    EXPECT_EQ(budget->used(), 411'000U);
  }
  EXPECT_EQ(budget->used(), 0U);
  EXPECT_EQ(budget->share(), 1'000'000U);
}

TEST_F(ByteBudgetTest, LetsAStreamGoOnThatHoldsNoMoreThanItsShare) {
  ByteAccount small{budget, clock, "small"};
  ByteAccount large{budget, clock, "large"};
  large.hold(5000'000);

  EXPECT_NO_THROW(small.admit(0, {}));
  EXPECT_NO_THROW(small.admit(500'000, {}));
  EXPECT_EQ(budget->refusals(), 0U);
}

TEST_F(ByteBudgetTest, RefusesAtOnceAnItemLargerThanTheWholeBudget) {
  ByteAccount account{budget, clock, "GET https://server/api/v1/pods"};
  try {
    account.admit(1'000'001, {});
    FAIL();
  } catch (const BudgetError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GET https://server/api/v1/pods"));
    EXPECT_THAT(error.what(), HasSubstr("1000000 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("ClientOptions::max_buffered_bytes"));
  }
  EXPECT_EQ(budget->refusals(), 1U);
}

TEST_F(ByteBudgetTest, HoldsAStreamBackUntilOthersHaveGivenBytesBack) {
  ByteAccount waiting{budget, clock, "waiting"};
  ByteAccount other{budget, clock, "other"};
  waiting.hold(600'000);
  other.hold(600'000);
  auto admitted = std::async(std::launch::async, [&] { waiting.admit(600'000, {}); });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  other.hold(100'000);

  ASSERT_EQ(admitted.wait_for(10s), std::future_status::ready);
  EXPECT_NO_THROW(admitted.get());
}

TEST_F(ByteBudgetTest, EndsAWaitThatLastsTooLongSoThatNoStreamWaitsForEver) {
  ByteAccount waiting{budget, clock, "waiting"};
  ByteAccount other{budget, clock, "other"};
  waiting.hold(600'000);
  other.hold(600'000);
  auto admitted = std::async(std::launch::async, [&] { waiting.admit(600'000, {}); });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(5s);

  ASSERT_EQ(admitted.wait_for(10s), std::future_status::ready);
  EXPECT_THROW(admitted.get(), BudgetError);
}

TEST_F(ByteBudgetTest, LeavesItToTheStreamToNoticeAStop) {
  ByteAccount waiting{budget, clock, "waiting"};
  waiting.hold(1001'000);
  ByteAccount other{budget, clock, "other"};
  std::stop_source stop;
  stop.request_stop();

  EXPECT_NO_THROW(waiting.admit(900'000, stop.get_token()));
}

TEST_F(ByteBudgetTest, DoesNotFailOrdinaryObjectsHoweverManyStreamsThereAre) {
  std::deque<ByteAccount> accounts;
  for (int i = 0; i < 1000; ++i) accounts.emplace_back(budget, clock, "one").hold(2000);

  EXPECT_TRUE(budget->is_exhausted());
  EXPECT_NO_THROW(accounts.front().admit(64 << 10, {}));
}

TEST_F(ByteBudgetTest, HasNoLimitIfThatIsZeroOrIfThereIsNoBudget) {
  budget = std::make_shared<ByteBudget>(0);
  ByteAccount account{budget, clock, "one"};
  account.hold(1'000'000);
  EXPECT_NO_THROW(account.admit(1'000'000, {}));
  EXPECT_FALSE(account.is_crowded());
  ByteAccount nothing{nullptr, clock, "two"};
  nothing.hold(7);
  EXPECT_NO_THROW(nothing.admit(1'000'000, {}));
}

}  // namespace
}  // namespace kube
