// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 20000;

Condition::TimePoint soon() { return std::chrono::steady_clock::now() + 60s; }

TEST(Condition, ReturnsImmediatelyIfReady) {
  std::mutex mutex;
  Condition condition;
  std::unique_lock lock{mutex};
  condition.wait(lock, [] { return true; });
  EXPECT_TRUE(lock.owns_lock());
}

TEST(Condition, APairOfThreadsMissesNoWakeUp) {
  std::mutex mutex;
  Condition turned;
  int turn = 0;  // guarded by mutex
  bool late = false;
  const auto play = [&](int own) {
    for (int i = 0; i < kRounds; ++i) {
      {
        std::unique_lock lock{mutex};
        if (!turned.wait_until(lock, {}, soon(), [&] { return turn % 2 == own; })) late = true;
        if (late) return;
        ++turn;
      }
      turned.notify_one();
    }
  };
  {
    const std::jthread other{play, 1};
    play(0);
  }
  EXPECT_FALSE(late);
  EXPECT_EQ(turn, 2 * kRounds);
}

TEST(Condition, NotifyAllWakesAllWaiters) {
  std::mutex mutex;
  Condition changed;
  bool open = false;  // guarded by mutex
  int through = 0;    // guarded by mutex
  {
    std::vector<std::jthread> crowd;
    for (int i = 0; i < 8; ++i) {
      crowd.emplace_back([&] {
        std::unique_lock lock{mutex};
        through += changed.wait_until(lock, {}, soon(), [&] { return open; }) ? 1 : 0;
      });
    }
    {
      const std::lock_guard guard{mutex};
      open = true;
    }
    changed.notify_all();
  }
  EXPECT_EQ(through, 8);
}

TEST(Condition, AStopEndsTheWaitAtAnyTime) {
  for (int i = 0; i < kRounds / 10; ++i) {
    std::mutex mutex;
    Condition never;
    std::stop_source source;
    bool ready = true;
    bool stopped = false;
    {
      const std::jthread waiter{[&] {
        std::unique_lock lock{mutex};
        ready = never.wait_until(lock, source.get_token(), soon(), [] { return false; });
        stopped = source.stop_requested();
      }};
      source.request_stop();
    }
    ASSERT_FALSE(ready);
    ASSERT_TRUE(stopped);
  }
}

TEST(Condition, AStopMayBeRequestedWhileHoldingTheLock) {
  std::mutex mutex;
  Condition never;
  std::jthread waiter{[&](std::stop_token stop) {
    std::unique_lock lock{mutex};
    EXPECT_FALSE(never.wait(lock, std::move(stop), [] { return false; }));
  }};
  const std::lock_guard guard{mutex};
  waiter.request_stop();
}

TEST(Condition, ADeadlineEndsTheWait) {
  std::mutex mutex;
  Condition never;
  std::unique_lock lock{mutex};
  const auto deadline = std::chrono::steady_clock::now() + 5ms;
  EXPECT_FALSE(never.wait_until(lock, {}, deadline, [] { return false; }));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  EXPECT_TRUE(lock.owns_lock());
  // A deadline in the distant past works, too.
  EXPECT_FALSE(never.wait_until(lock, {}, Condition::TimePoint{} - 1h, [] { return false; }));
}

}  // namespace
}  // namespace kube
