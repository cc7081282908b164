// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/work_queue.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr auto kDeadline = 10s;

class DelayedWorkQueue : public ::testing::Test {
 protected:
  testkit::FakeClock clock_;
  WorkQueue<std::string> queue_{{.clock = &clock_}};
};

// WQ-10, WQ-5
TEST_F(DelayedWorkQueue, AddsAnItemAtItsTime) {
  queue_.add_after("later", 50ms);
  queue_.add_after("now", 0s);
  queue_.add_after("past", -1s);
  EXPECT_EQ(queue_.size(), 2U);
  clock_.advance(50ms - 1ns);
  EXPECT_EQ(queue_.size(), 2U);
  clock_.advance(1ns);
  EXPECT_EQ(queue_.size(), 3U);

  for (const char* item : {"now", "past", "later"}) EXPECT_EQ(queue_.get(), item);
}

// WQ-10
TEST_F(DelayedWorkQueue, KeepsTheEarlierOfTwoTimes) {
  queue_.add_after("a", 10s);
  queue_.add_after("a", 20s);
  queue_.add_after("b", 20s);
  queue_.add_after("b", 5s);
  clock_.advance(5s);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.get(), "b");
  clock_.advance(5s);
  EXPECT_EQ(queue_.get(), "a");
  queue_.done("a");
  queue_.done("b");

  clock_.advance(1h);
  EXPECT_EQ(queue_.size(), 0U);
}

// WQ-10
TEST_F(DelayedWorkQueue, AddsAWaitingItemDirectlyAndAgainAtItsTime) {
  queue_.add_after("a", 10s);
  queue_.add("a");
  EXPECT_EQ(queue_.get(), "a");
  queue_.done("a");
  EXPECT_EQ(queue_.size(), 0U);
  clock_.advance(10s);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.get(), "a");
  queue_.done("a");

  queue_.add_after("a", 10s);
  queue_.add("a");
  clock_.advance(10s);
  EXPECT_EQ(queue_.size(), 1U);
}

// WQ-10, WQ-4
TEST_F(DelayedWorkQueue, MarksAnItemInProcessingWhenItsTimeComes) {
  queue_.add("a");
  EXPECT_EQ(queue_.get(), "a");
  queue_.add_after("a", 1s);
  clock_.advance(1s);
  EXPECT_EQ(queue_.size(), 0U);
  queue_.done("a");
  EXPECT_EQ(queue_.size(), 1U);
}

// WQ-10: items that became due precede items added later, even if the queue was not used in
// between.
TEST_F(DelayedWorkQueue, KeepsTheOrderOfTimes) {
  queue_.add_after("c", 3s);
  queue_.add_after("a", 1s);
  queue_.add_after("b1", 2s);
  queue_.add_after("b2", 2s);
  clock_.advance(10s);
  queue_.add("last");

  for (const char* item : {"a", "b1", "b2", "c", "last"}) EXPECT_EQ(queue_.get(), item);
}

// WQ-10
TEST_F(DelayedWorkQueue, WakesAWorkerAtTheTimeOfTheItem) {
  queue_.add_after("a", 1min);
  auto item = std::async(std::launch::async, [&] { return queue_.get(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 1min);
  clock_.advance(1min);

  ASSERT_EQ(item.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(item.get(), "a");
}

// WQ-10: an earlier item wakes a worker that waits for a later one.
TEST_F(DelayedWorkQueue, WakesAWorkerForAnItemThatCameLaterAndIsReadyEarlier) {
  queue_.add_after("late", 1h);
  auto item = std::async(std::launch::async, [&] { return queue_.get(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  queue_.add_after("early", 1s);
  while (clock_.next_deadline() != clock_.now() + 1s) std::this_thread::yield();
  clock_.advance(1s);

  ASSERT_EQ(item.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(item.get(), "early");
}

TEST_F(DelayedWorkQueue, OneWorkerWaitsForTheTimeAndAnotherTakesOver) {
  queue_.add_after("a", 1s);
  queue_.add_after("b", 2s);
  std::stop_source stop;
  std::vector<std::future<std::optional<std::string>>> workers;
  for (int i = 0; i < 3; ++i) {
    workers.push_back(std::async(std::launch::async, [&] { return queue_.get(stop.get_token()); }));
  }
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  clock_.advance(1s);  // the worker that waits for the time takes "a" and leaves "b" to another
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(clock_.sleepers(), 1U);
  clock_.advance(1s);

  std::multiset<std::string> got;
  const auto until = std::chrono::steady_clock::now() + kDeadline;
  while (got.size() < 2 && std::chrono::steady_clock::now() < until) {
    for (auto& worker : workers) {
      if (!worker.valid() || worker.wait_for(1ms) != std::future_status::ready) continue;
      if (const auto item = worker.get()) got.insert(*item);
    }
  }
  EXPECT_EQ(got, (std::multiset<std::string>{"a", "b"}));
  stop.request_stop();
}

// WQ-11, WQ-6
TEST_F(DelayedWorkQueue, IgnoresDelayedItemsAfterAShutdownAndForgetsThoseThatWait) {
  queue_.add_after("waits", 1s);
  queue_.add("both");
  queue_.add_after("both", 1s);
  queue_.shut_down();
  queue_.add_after("new", 1s);
  queue_.add_after("now", 0s);
  clock_.advance(1h);

  EXPECT_EQ(queue_.get(), "both");
  queue_.done("both");
  EXPECT_EQ(queue_.get(), std::nullopt);
}

// WQ-11: add_after() stores items directly, so there is no buffer of 1000 that can be full.
TEST_F(DelayedWorkQueue, TakesAnyNumberOfDelayedItemsWithoutAWorkerAndWithoutAThread) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
  };
  const auto before = threads();
  constexpr int kItems = 100'000;
  for (int i = 0; i < kItems; ++i)
    queue_.add_after(std::to_string(i), 1s + std::chrono::seconds{i % 100});
  EXPECT_EQ(threads(), before);
  EXPECT_EQ(queue_.size(), 0U);
  clock_.advance(50s);
  EXPECT_EQ(queue_.size(), kItems / 2U);
  clock_.advance(50s);
  EXPECT_EQ(queue_.size(), static_cast<std::size_t>(kItems));
}

TEST_F(DelayedWorkQueue, TakesTheLongestDelayThereIs) {
  queue_.add_after("never", Clock::Duration::max());
  clock_.advance(24h);
  EXPECT_EQ(queue_.size(), 0U);
}

}  // namespace
}  // namespace kube
