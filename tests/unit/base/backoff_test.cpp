// SPDX-License-Identifier: Apache-2.0
#include <kube/base/backoff.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

BackoffOptions reflector_backoff(double random) {
  return {
      .initial = 800ms, .factor = 2, .jitter = 1, .cap = 30s, .reset_after = 2min, .random = [=] {
        return random;
      }};
}

//
TEST(Backoff, GrowsToItsCap) {
  Backoff backoff{reflector_backoff(0)};
  std::vector<Clock::Duration> delays;
  for (int i = 0; i < 8; ++i) delays.push_back(backoff.next({}));

  const std::vector<Clock::Duration> expected{800ms,   1600ms,  3200ms, 6400ms,
                                              12800ms, 25600ms, 30s,    30s};
  EXPECT_EQ(delays, expected);
}

//
TEST(Backoff, AddsJitterUpToItsPart) {
  Backoff least{reflector_backoff(0)};
  Backoff half{reflector_backoff(0.5)};
  Backoff real{{.initial = 1s, .jitter = 1}};

  EXPECT_EQ(least.next({}), 800ms);
  EXPECT_EQ(half.next({}), 1200ms);
  for (int i = 0; i < 1000; ++i) {
    const Clock::Duration delay = real.next({});
    EXPECT_GE(delay, 1s);
    EXPECT_LT(delay, 2s);
  }
}

// R-7, K-6: quiet time counts from the last delay requested, not from the first.
TEST(Backoff, BeginsAnewAfterAQuietTime) {
  Backoff backoff{reflector_backoff(0)};
  Clock::TimePoint now{};
  EXPECT_EQ(backoff.next(now), 800ms);
  EXPECT_EQ(backoff.next(now += 2min), 1600ms);
  EXPECT_EQ(backoff.next(now += 2min), 3200ms);
  EXPECT_EQ(backoff.next(now += 2min + 1ns), 800ms);
  EXPECT_EQ(backoff.next(now), 1600ms);
  backoff.reset();
  EXPECT_EQ(backoff.next(now), 800ms);
}

// RC-46: 5 tries of 10 ms make four waits; the slower variant is 10, 50, 250 ms.
TEST(Backoff, WaitsUntilTheTriesAreUsedUp) {
  testkit::FakeClock clock;
  const auto waits = [&](BackoffOptions options) {
    std::vector<Clock::Duration> result;
    auto done = std::async(std::launch::async, [&] {
      Backoff backoff{std::move(options)};
      for (auto before = clock.now(); backoff.wait(clock, {}); before = clock.now()) {
        result.push_back(clock.now() - before);
      }
    });
    while (done.wait_for(0s) != std::future_status::ready) {
      const auto next = clock.next_deadline();
      if (next != Clock::TimePoint::max()) clock.advance(next - clock.now());
    }
    return result;
  };

  EXPECT_EQ(waits({.initial = 10ms, .tries = 5}),
            (std::vector<Clock::Duration>{10ms, 10ms, 10ms, 10ms}));
  EXPECT_EQ(waits({.initial = 10ms, .factor = 5, .tries = 4}),
            (std::vector<Clock::Duration>{10ms, 50ms, 250ms}));
  EXPECT_TRUE(waits({.initial = 10ms, .tries = 1}).empty());
}

// K-7
TEST(Backoff, StopsWaitingWhenAsked) {
  testkit::FakeClock clock;
  std::stop_source stop;
  Backoff backoff{{.initial = 1h}};
  auto waited =
      std::async(std::launch::async, [&] { return backoff.wait(clock, stop.get_token()); });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  stop.request_stop();

  ASSERT_EQ(waited.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(waited.get());
}

TEST(Backoff, NeverOverflows) {
  Backoff backoff{{.initial = 1h, .factor = 1e9, .jitter = 5}};
  for (int i = 0; i < 1000; ++i)
    EXPECT_GT(Clock::TimePoint{} + backoff.next({}), Clock::TimePoint{});
}

TEST(Backoff, RefusesNonsense) {
  EXPECT_THROW(Backoff{{.initial = -1s}}, std::invalid_argument);
  EXPECT_THROW((Backoff{{.initial = 1s, .factor = 0.5}}), std::invalid_argument);
  EXPECT_THROW((Backoff{{.initial = 1s, .jitter = -1}}), std::invalid_argument);
}

}  // namespace
}  // namespace kube
