// SPDX-License-Identifier: Apache-2.0
#include <kube/base/clock.hpp>
#include <kube/base/condition.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <future>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, StopsSleepingWhenAsked) {
  std::stop_source stop;
  auto slept = std::async(std::launch::async,
                          [&] { return system_clock().sleep_for(1h, stop.get_token()); });
  stop.request_stop();

  ASSERT_EQ(slept.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(slept.get());
}

TEST(FakeClock, MovesItselfWhileItWaitsForACondition) {
  testkit::FakeClock clock;
  std::atomic<int> tries = 0;
  const std::jthread retrying{[&](const std::stop_token& stop) {
    while (clock.sleep_for(30s, stop)) ++tries;
  }};
  const auto start = clock.now();
  EXPECT_TRUE(clock.advance_until([&] { return tries >= 5; }));
  EXPECT_GE(clock.now() - start, 150s);
  EXPECT_FALSE(clock.advance_until([] { return false; }, 1ms));
}

TEST(FakeClock, WaitsForASleeperWithThatDeadline) {
  testkit::FakeClock clock;
  const auto start = clock.now();
  std::stop_source stop;
  const std::jthread late{[&] { (void)clock.sleep_for(1h, stop.get_token()); }};
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_FALSE(clock.wait_for_sleeper_until(start + 10s, 1ms));
  const std::jthread early{[&] { (void)clock.sleep_for(10s, stop.get_token()); }};
  EXPECT_TRUE(clock.wait_for_sleeper_until(start + 10s));
  stop.request_stop();
}

TEST(SystemClock, SleepsToTheEnd) { EXPECT_TRUE(system_clock().sleep_for(1ms, {})); }

/// The simulated boot-time offset in tests of BootClock; only a suspend changes it.
std::atomic<Clock::Duration> suspended{};
Clock::TimePoint time_with_suspends() {
  return std::chrono::steady_clock::now() + suspended.load();
}

TEST(BootClock, ShowsTheTimeSinceTheMachineWasStarted) {
  const auto boot_time = [] {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return Clock::TimePoint{std::chrono::seconds{time.tv_sec} +
                            std::chrono::nanoseconds{time.tv_nsec}};
  };
  const auto before = boot_time();
  const auto now = boot_clock().now();

  EXPECT_LE(before, now);
  EXPECT_LE(now, boot_time());
}

TEST(BootClock, EndsAWaitWhoseDeadlinePassedDuringASuspend) {
  suspended = 0s;
  detail::BootClock clock{time_with_suspends};
  const auto deadline = clock.now() + 1h;
  auto slept = std::async(std::launch::async, [&] { return clock.sleep_until(deadline, {}); });
  suspended = 2h;

  ASSERT_EQ(slept.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(slept.get());
}

TEST(BootClock, StopsSleepingWhenAsked) {
  std::stop_source stop;
  auto slept =
      std::async(std::launch::async, [&] { return boot_clock().sleep_for(1h, stop.get_token()); });
  stop.request_stop();

  ASSERT_EQ(slept.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(slept.get());
}

TEST(BootClock, ReturnsTheValueOfTheCondition) {
  std::mutex mutex;
  Condition condition;
  bool ready = false;
  auto waited = std::async(std::launch::async, [&] {
    std::unique_lock lock{mutex};
    return boot_clock().wait_until(lock, condition, boot_clock().now() + 1h, {},
                                   [&] { return ready; });
  });
  {
    const std::lock_guard guard{mutex};
    ready = true;
  }
  condition.notify_all();

  ASSERT_EQ(waited.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(waited.get());
  EXPECT_TRUE(boot_clock().sleep_for(1ms, {}));
}

TEST(FakeClock, WakesASleeperWhenItsTimeHasCome) {
  testkit::FakeClock clock;
  auto slept = std::async(std::launch::async, [&] { return clock.sleep_for(1h, {}); });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(59min);
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(1min);

  ASSERT_EQ(slept.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(slept.get());
  EXPECT_EQ(clock.sleepers(), 0U);
  EXPECT_EQ(clock.next_deadline(), Clock::TimePoint::max());
}

TEST(FakeClock, StopsSleepingWhenAsked) {
  testkit::FakeClock clock;
  std::stop_source stop;
  auto slept =
      std::async(std::launch::async, [&] { return clock.sleep_for(1h, stop.get_token()); });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  stop.request_stop();

  ASSERT_EQ(slept.wait_for(10s), std::future_status::ready);
  EXPECT_FALSE(slept.get());
}

TEST(FakeClock, ReturnsTheValueOfTheConditionAtTheDeadline) {
  testkit::FakeClock clock;
  std::mutex mutex;
  Condition condition;
  bool ready = false;
  auto waited = std::async(std::launch::async, [&] {
    std::unique_lock lock{mutex};
    return clock.wait_until(lock, condition, clock.now() + 1s, {}, [&] { return ready; });
  });
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  {
    const std::lock_guard guard{mutex};
    ready = true;
  }
  condition.notify_all();

  ASSERT_EQ(waited.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(waited.get());
}

TEST(FakeClock, MovesTheTimeOfDayAlone) {
  testkit::FakeClock clock;
  const auto now = clock.now();
  const auto wall = clock.wall_now();
  clock.jump_wall(-1h);

  EXPECT_EQ(clock.now(), now);
  EXPECT_EQ(clock.wall_now(), wall - 1h);
}

}  // namespace
}  // namespace kube
