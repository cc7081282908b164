// SPDX-License-Identifier: Apache-2.0
#include <kube/api/object_key.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/work_queue.hpp>

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr auto kDeadline = 10s;

// WQ-1, WQ-3, WQ-5
TEST(WorkQueue, HandsOutItemsInTheOrderOfTheirFirstAdd) {
  WorkQueue<std::string> queue;
  for (const char* item : {"b", "a", "b", "c", "a"}) queue.add(item);

  EXPECT_EQ(queue.size(), 3U);
  for (const char* item : {"b", "a", "c"}) EXPECT_EQ(queue.get(), item);
  EXPECT_EQ(queue.size(), 0U);
}

// WQ-1
TEST(WorkQueue, TakesKeysOfObjects) {
  WorkQueue<ObjectKey> queue;
  queue.add({"default", "web"});
  queue.add({"default", "web"});
  queue.add({"", "default/web"});

  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.get(), (ObjectKey{"default", "web"}));
}

// WQ-2
TEST(WorkQueue, ReportsATouchOnlyWhileTheItemIsQueued) {
  std::vector<int> touched;
  WorkQueue<int> queue{{}, [&](const int& item) { touched.push_back(item); }};
  queue.add(1);
  EXPECT_TRUE(touched.empty());
  queue.add(1);
  EXPECT_EQ(touched, std::vector<int>{1});

  EXPECT_EQ(queue.get(), 1);
  queue.add(1);
  queue.add(1);
  EXPECT_EQ(touched, std::vector<int>{1});
  queue.done(1);
  queue.add(1);
  EXPECT_EQ(touched, (std::vector<int>{1, 1}));
}

// WQ-2, WQ-4, WQ-5
TEST(WorkQueue, ReturnsAgainItemsAddedDuringProcessing) {
  WorkQueue<int> queue;
  queue.add(1);
  EXPECT_EQ(queue.get(), 1);
  queue.add(1);
  queue.add(1);
  queue.add(2);
  EXPECT_EQ(queue.size(), 1U);

  queue.done(1);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.get(), 2);
  EXPECT_EQ(queue.get(), 1);
  queue.done(1);
  EXPECT_EQ(queue.size(), 0U);
}

// WQ-8
TEST(WorkQueue, IgnoresDoneForItemsNotInProcessing) {
  WorkQueue<int> queue;
  queue.done(1);
  queue.add(1);
  queue.done(1);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.get(), 1);
  queue.done(1);
  queue.done(1);
  EXPECT_EQ(queue.size(), 0U);
}

// WQ-3
TEST(WorkQueue, WaitsForAnItem) {
  WorkQueue<int> queue;
  auto item = std::async(std::launch::async, [&] { return queue.get(); });
  queue.add(7);

  ASSERT_EQ(item.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(item.get(), 7);
}

TEST(WorkQueue, StopsWaitingWhenAskedAndLeavesTheItemsToOthers) {
  WorkQueue<int> queue;
  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] { return queue.get(stop.get_token()); });
  stop.request_stop();
  ASSERT_EQ(stopped.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(stopped.get(), std::nullopt);

  queue.add(1);
  EXPECT_EQ(queue.get(stop.get_token()), std::nullopt);
  EXPECT_EQ(queue.get(), 1);
}

// WQ-6
TEST(WorkQueue, ReturnsQueuedItemsAfterShutdownAndAcceptsNoMore) {
  WorkQueue<int> queue;
  queue.add(1);
  queue.add(2);
  EXPECT_FALSE(queue.shutting_down());
  queue.shut_down();
  EXPECT_TRUE(queue.shutting_down());
  queue.add(3);

  EXPECT_EQ(queue.get(), 1);
  EXPECT_EQ(queue.get(), 2);
  EXPECT_EQ(queue.get(), std::nullopt);
  EXPECT_EQ(queue.get(), std::nullopt);
}

// WQ-6
TEST(WorkQueue, WakesAllWaitersOnShutdown) {
  WorkQueue<int> queue;
  std::vector<std::future<std::optional<int>>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return queue.get(); }));
  }
  queue.shut_down();

  for (auto& one : waiting) {
    ASSERT_EQ(one.wait_for(kDeadline), std::future_status::ready);
    EXPECT_EQ(one.get(), std::nullopt);
  }
}

// WQ-7
TEST(WorkQueue, DrainsUntilNothingIsInProcessing) {
  WorkQueue<int> queue;
  queue.add(1);
  queue.add(2);
  EXPECT_EQ(queue.get(), 1);
  EXPECT_EQ(queue.get(), 2);
  queue.add(1);  // to be returned again despite a shutdown
  auto drained = std::async(std::launch::async, [&] { return queue.shut_down_with_drain(); });
  while (!queue.shutting_down()) std::this_thread::yield();
  queue.add(3);

  queue.done(1);
  EXPECT_EQ(queue.get(), 1);
  queue.done(1);
  EXPECT_EQ(drained.wait_for(0s), std::future_status::timeout);
  queue.done(2);
  ASSERT_EQ(drained.wait_for(kDeadline), std::future_status::ready);
  EXPECT_TRUE(drained.get());
  EXPECT_EQ(queue.get(), std::nullopt);
}

// WQ-7
TEST(WorkQueue, DrainsAtOnceWhenNothingIsInProcessing) {
  WorkQueue<int> queue;
  EXPECT_TRUE(queue.shut_down_with_drain());
}

// WQ-7
TEST(WorkQueue, ReleasesADrainByAShutdownOrAStop) {
  WorkQueue<int> queue;
  queue.add(1);
  EXPECT_EQ(queue.get(), 1);
  auto drained = std::async(std::launch::async, [&] { return queue.shut_down_with_drain(); });
  while (drained.wait_for(1ms) != std::future_status::ready) queue.shut_down();
  EXPECT_FALSE(drained.get());

  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(queue.shut_down_with_drain(stop.get_token()));
}

}  // namespace
}  // namespace kube
