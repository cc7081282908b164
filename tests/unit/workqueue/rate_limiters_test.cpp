// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/rate_limiters.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

// WQ-13
TEST(ExponentialLimiter, DoublesTheDelayOfEachItemUpToTheCap) {
  ExponentialLimiter<std::string> limiter;
  Clock::Duration expected = 5ms;
  for (int failure = 1; failure <= 18; ++failure, expected *= 2) {
    EXPECT_EQ(limiter.num_requeues("a"), failure - 1);
    EXPECT_EQ(limiter.when("a"), expected) << failure;
  }
  EXPECT_EQ(expected / 2, 655'360ms);
  for (int failure = 19; failure <= 5000; ++failure) ASSERT_EQ(limiter.when("a"), 1000s);

  EXPECT_EQ(limiter.when("b"), 5ms);
  limiter.forget("a");
  EXPECT_EQ(limiter.num_requeues("a"), 0);
  EXPECT_EQ(limiter.when("a"), 5ms);
}

// WQ-13
TEST(ExponentialLimiter, DoesNotOverflow) {
  for (const int failures : {42, 63, 64, 1023, 1024, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(detail::exponential_delay(1ns, 1h, failures), 1h);
    EXPECT_EQ(detail::exponential_delay(Clock::Duration::max(), Clock::Duration::max(), failures),
              Clock::Duration::max());
    EXPECT_EQ(detail::exponential_delay(0ns, 1h, failures), 0ns);
  }
}

// WQ-14
TEST(BucketLimiter, SharesItsTokensAmongAllItems) {
  testkit::FakeClock clock;
  BucketLimiter<int> limiter{10, 100, clock};
  for (int i = 0; i < 100; ++i) ASSERT_EQ(limiter.when(i), 0s);
  EXPECT_EQ(limiter.when(0), 100ms);
  EXPECT_EQ(limiter.when(1), 200ms);
  EXPECT_EQ(limiter.num_requeues(0), 0);
  limiter.forget(0);
  EXPECT_EQ(limiter.when(0), 300ms);

  clock.advance(500ms);
  EXPECT_EQ(limiter.when(0), 0s);  // three were owed, five were added: takes one of the other two
  EXPECT_EQ(limiter.when(0), 0s);
  EXPECT_EQ(limiter.when(0), 100ms);
  clock.advance(1h);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(limiter.when(i), 0s);
  EXPECT_EQ(limiter.when(0), 100ms);
}

// WQ-15
TEST(MaxOfLimiter, IsTheMaximumOfBothForControllers) {
  testkit::FakeClock clock;
  const auto limiter = default_controller_limiter<int>(clock);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limiter->when(0), 5ms * (1 << i));
  EXPECT_EQ(limiter->num_requeues(0), 5);
  // Every limiter is called each time: these calls take the rest of the bucket.
  for (int i = 1; i <= 95; ++i) ASSERT_EQ(limiter->when(i), 5ms);
  EXPECT_EQ(limiter->when(200), 100ms);
  EXPECT_EQ(limiter->when(0), 200ms);
  EXPECT_EQ(limiter->when(0), 320ms);
  limiter->forget(0);
  EXPECT_EQ(limiter->num_requeues(0), 0);
  EXPECT_EQ(limiter->num_requeues(200), 1);
}

// WQ-16
TEST(FastSlowLimiter, IsFastForTheFirstFailuresOfAnItem) {
  FastSlowLimiter<int> limiter{5ms, 10s, 3};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.when(1), 5ms);
  EXPECT_EQ(limiter.when(1), 10s);
  EXPECT_EQ(limiter.when(1), 10s);
  EXPECT_EQ(limiter.when(2), 5ms);
  EXPECT_EQ(limiter.num_requeues(1), 5);
  limiter.forget(1);
  EXPECT_EQ(limiter.when(1), 5ms);
}

// WQ-16
TEST(MaxWaitLimiter, LimitsTheDelayOfAnotherLimiter) {
  MaxWaitLimiter<int> limiter{std::make_unique<ExponentialLimiter<int>>(), 12ms};
  EXPECT_EQ(limiter.when(1), 5ms);
  EXPECT_EQ(limiter.when(1), 10ms);
  EXPECT_EQ(limiter.when(1), 12ms);
  EXPECT_EQ(limiter.num_requeues(1), 3);
  limiter.forget(1);
  EXPECT_EQ(limiter.num_requeues(1), 0);
}

// WQ-16
TEST(ExponentialLimiter, BeginsAtAMillisecondAsTheDefaultForItems) {
  const auto limiter = default_item_limiter<int>();
  EXPECT_EQ(limiter->when(1), 1ms);
  EXPECT_EQ(limiter->when(1), 2ms);
  for (int i = 0; i < 30; ++i) (void)limiter->when(1);
  EXPECT_EQ(limiter->when(1), 1000s);
}

}  // namespace
}  // namespace kube
