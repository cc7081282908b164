// SPDX-License-Identifier: Apache-2.0
// Coroutines as workers of a queue (AV-4).
#include <kube/engine/runtime.hpp>
#include <kube/engine/sleep.hpp>
#include <kube/engine/spawn.hpp>
#include <kube/engine/task.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>
#include <kube/workqueue/work_queue.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

bool happens(const DoneSignal& signal) {
  std::stop_source late;
  const std::jthread limit{[&](std::stop_token stop) {
    (void)system_clock().sleep_for(20s, stop);
    late.request_stop();
  }};
  return signal.wait(late.get_token());
}

struct AsyncGetTest : testing::Test {
  /// Takes items until there are none.
  template <typename Queue>
  Task<void> work(Queue& queue) {
    while (const std::optional<std::string> item = co_await queue.get_async()) {
      {
        const std::lock_guard guard{mutex};
        taken.push_back(*item);
      }
      queue.done(*item);
    }
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard guard{mutex};
    return taken.size();
  }
  template <typename Condition>
  [[nodiscard]] static bool becomes_true(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::mutex mutex;
  std::vector<std::string> taken;  // guarded by mutex
  testkit::FakeClock clock;
  Runtime runtime{{.threads = 2, .log = Logger{}}};
};

// AV-4
TEST_F(AsyncGetTest, TakesItemsAsTheyAreAdded) {
  WorkQueue<std::string> queue;
  const DoneSignal done = spawn(runtime, work(queue));
  queue.add("a");
  queue.add("b");
  ASSERT_TRUE(becomes_true([&] { return count() == 2; }));
  queue.add("a");
  queue.shut_down();
  ASSERT_TRUE(happens(done));
  EXPECT_THAT(taken, ElementsAre("a", "b", "a"));
}

// AV-4
TEST_F(AsyncGetTest, SharesItemsWithThreadsAndLosesNone) {
  constexpr int kItems = 5000;
  WorkQueue<std::string> queue;
  std::vector<DoneSignal> ended;
  for (int i = 0; i < 4; ++i) ended.push_back(spawn(runtime, work(queue)));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (const std::optional<std::string> item = queue.get()) {
        {
          const std::lock_guard guard{mutex};
          taken.push_back(*item);
        }
        queue.done(*item);
      }
    });
  }
  for (int i = 0; i < kItems; ++i) queue.add(std::to_string(i));
  EXPECT_TRUE(becomes_true([&] { return count() == kItems; }));
  queue.shut_down();
  for (const DoneSignal& each : ended) EXPECT_TRUE(happens(each));
}

// AV-4: a waiting coroutine wakes for delayed items, also if an earlier one is added.
TEST_F(AsyncGetTest, TakesDelayedItemsInTime) {
  WorkQueue<std::string> queue{{.clock = &clock}};
  const DoneSignal done = spawn(runtime, work(queue));
  queue.add_after("late", 20s);
  queue.add_after("early", 10s);
  ASSERT_TRUE(clock.wait_for_sleeper_until(clock.now() + 10s));
  clock.advance(10s);
  ASSERT_TRUE(becomes_true([&] { return count() == 1; }));
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(10s);
  ASSERT_TRUE(becomes_true([&] { return count() == 2; }));
  EXPECT_THAT(taken, ElementsAre("early", "late"));
  queue.shut_down();
  ASSERT_TRUE(happens(done));
}

// AV-4: a stopped waiter passes on its wake-up and gets no item.
TEST_F(AsyncGetTest, PassesOnTheWakeUpOfAStoppedWaiter) {
  for (int i = 0; i < 300; ++i) {
    taken.clear();
    WorkQueue<std::string> queue;
    std::stop_source stop;
    const DoneSignal first = spawn(runtime, work(queue), Delivery::kQueued, stop.get_token());
    const DoneSignal second = spawn(runtime, work(queue));
    {
      const std::jthread other{[&] { stop.request_stop(); }};
      queue.add("a");
    }
    ASSERT_TRUE(happens(first));
    ASSERT_TRUE(becomes_true([&] { return count() == 1; }));
    queue.shut_down();
    ASSERT_TRUE(happens(second));
  }
}

// AV-4: by priority, also with a limiter.
TEST_F(AsyncGetTest, TakesUrgentItemsFirst) {
  PriorityQueue<std::string> queue{{.clock = &clock}};
  queue.add("low", {.priority = kLowPriority});
  queue.add("high", {.priority = 5});
  queue.add("later", {.after = 1s});
  const DoneSignal done = spawn(runtime, work(queue));
  ASSERT_TRUE(becomes_true([&] { return count() == 2; }));
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(1s);
  ASSERT_TRUE(becomes_true([&] { return count() == 3; }));
  EXPECT_THAT(taken, ElementsAre("high", "low", "later"));
  queue.shut_down();
  ASSERT_TRUE(happens(done));

  RateLimitingQueue<std::string> limited;
  limited.add("a");
  limited.shut_down();
  ASSERT_TRUE(happens(spawn(runtime, work(limited))));
  EXPECT_EQ(taken.back(), "a");
}

}  // namespace
}  // namespace kube
