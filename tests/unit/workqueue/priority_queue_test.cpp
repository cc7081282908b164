// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/priority_queue.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;

constexpr auto kDeadline = 10s;

class PriorityQueueTest : public ::testing::Test {
 protected:
  testkit::FakeClock clock_;
  PriorityQueue<std::string> queue_{{.clock = &clock_}};

  void expect_items(const std::vector<std::string>& items) {
    EXPECT_EQ(queue_.size(), items.size());
    for (const std::string& item : items) {
      EXPECT_EQ(queue_.get(), item);
      queue_.done(item);
    }
    EXPECT_EQ(queue_.size(), 0U);
  }
};

// WQ-30
TEST_F(PriorityQueueTest, HandsOutTheHighestFirstAndEqualOnesInOrder) {
  queue_.add("listed 1", {.priority = kLowPriority});
  queue_.add("normal 1");
  queue_.add("listed 2", {.priority = kLowPriority});
  queue_.add("urgent", {.priority = 10});
  queue_.add("normal 2", {.priority = 0});

  EXPECT_EQ(kLowPriority, -100);
  expect_items({"urgent", "normal 1", "normal 2", "listed 1", "listed 2"});
}

// WQ-30
TEST_F(PriorityQueueTest, ReturnsThePriority) {
  queue_.add("a", {.priority = 7});
  const auto item = queue_.get_with_priority();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->item, "a");
  EXPECT_EQ(item->priority, 7);
}

// WQ-31
TEST_F(PriorityQueueTest, RaisesAPriorityAndNeverLowersIt) {
  queue_.add("a", {.priority = 1});
  queue_.add("b", {.priority = 2});
  queue_.add("a", {.priority = 2});  // now after b
  queue_.add("b", {.priority = -5});
  queue_.add("c", {.priority = 2});

  EXPECT_EQ(queue_.size(), 3U);
  EXPECT_EQ(queue_.get_with_priority()->item, "b");
  EXPECT_EQ(queue_.get_with_priority()->priority, 2);
  EXPECT_EQ(queue_.get(), "c");
}

// WQ-31
TEST_F(PriorityQueueTest, KeepsTheEarlierTime) {
  queue_.add_after("a", 10s);
  queue_.add_after("a", 20s);
  queue_.add("b", {.priority = 3, .after = 10s});
  queue_.add("b", {.after = 5s});
  clock_.advance(5s);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.get_with_priority()->priority, 3);
  clock_.advance(5s);
  EXPECT_EQ(queue_.get(), "a");
  queue_.done("a");
  clock_.advance(1h);
  EXPECT_EQ(queue_.size(), 0U);
}

// WQ-31
TEST_F(PriorityQueueTest, MakesAWaitingItemReadyWhenItIsAddedPlainly) {
  queue_.add_after("a", 10s);
  EXPECT_EQ(queue_.size(), 0U);
  queue_.add("a");
  expect_items({"a"});
  clock_.advance(10s);
  EXPECT_EQ(queue_.size(), 0U);
}

// WQ-31
TEST_F(PriorityQueueTest, LeavesAReadyItemReadyWhenItIsAddedWithADelay) {
  queue_.add("a");
  queue_.add("a", {.priority = 4, .after = 1h});
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.get_with_priority()->priority, 4);
}

// WQ-32
TEST_F(PriorityQueueTest, TakesTheShorterOfDelayAndRateLimit) {
  queue_.add("a", {.after = 1s, .rate_limited = true});  // the limiter returns 5 ms
  queue_.add("b", {.after = 1ms, .rate_limited = true});
  clock_.advance(1ms);
  expect_items({"b"});
  clock_.advance(4ms);
  expect_items({"a"});
  EXPECT_EQ(queue_.num_requeues("a"), 1);
}

// WQ-32
TEST_F(PriorityQueueTest, PutsAnItemAtTheEndOfItsLevelWhenItsTimeComes) {
  queue_.add("waited", {.priority = 1, .after = 1s});
  queue_.add("before", {.priority = 1});
  queue_.add("low");
  clock_.advance(1s);
  queue_.add("after", {.priority = 1});

  expect_items({"before", "waited", "after", "low"});
}

// WQ-33
TEST_F(PriorityQueueTest, HoldsBackAnItemThatIsAddedDuringProcessing) {
  queue_.add("a");
  EXPECT_EQ(queue_.get(), "a");
  queue_.add("a", {.priority = 5});
  queue_.add("b");
  queue_.add("a", {.priority = 3});
  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_EQ(queue_.get(), "b");
  queue_.done("a");
  const auto again = queue_.get_with_priority();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->item, "a");
  EXPECT_EQ(again->priority, 5);
  queue_.done("a");
  EXPECT_EQ(queue_.size(), 0U);
}

// WQ-33
TEST_F(PriorityQueueTest, HoldsBackAnItemWhoseTimeComesDuringProcessing) {
  queue_.add("a");
  EXPECT_EQ(queue_.get(), "a");
  queue_.add("a", {.priority = 2, .after = 1s});
  clock_.advance(2s);
  queue_.add("b", {.priority = 2});
  EXPECT_EQ(queue_.get(), "b");
  queue_.done("a");
  EXPECT_EQ(queue_.get(), "a");
  queue_.done("a");
  queue_.done("a");
  queue_.done("never there");
}

// WQ-34
TEST_F(PriorityQueueTest, HandsOutNothingAfterAShutdown) {
  queue_.add("a");
  queue_.add("b");
  EXPECT_EQ(queue_.get(), "a");
  queue_.shut_down_with_drain();  // returns although a is being processed
  EXPECT_TRUE(queue_.shutting_down());
  queue_.add("c");
  EXPECT_EQ(queue_.get(), std::nullopt);
  queue_.done("a");
}

// WQ-34
TEST_F(PriorityQueueTest, WakesAllWaitersOnShutdown) {
  std::vector<std::future<std::optional<std::string>>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(std::async(std::launch::async, [&] { return queue_.get(); }));
  }
  queue_.shut_down();
  for (auto& one : waiting) {
    ASSERT_EQ(one.wait_for(kDeadline), std::future_status::ready);
    EXPECT_EQ(one.get(), std::nullopt);
  }
}

// WQ-35
TEST_F(PriorityQueueTest, LimitsEachItemSeparately) {
  for (int i = 0; i < 200; ++i) queue_.add_rate_limited(std::to_string(i));
  clock_.advance(5ms - 1ns);
  EXPECT_EQ(queue_.size(), 0U);
  clock_.advance(1ns);
  EXPECT_EQ(queue_.size(), 200U);
  queue_.add_rate_limited("0");
  EXPECT_EQ(queue_.num_requeues("0"), 2);
  queue_.forget("0");
  EXPECT_EQ(queue_.num_requeues("0"), 0);
}

TEST_F(PriorityQueueTest, WakesAWorkerAtTheTimeOfTheItemAndStopsWhenAsked) {
  queue_.add_after("a", 1min);
  auto item = std::async(std::launch::async, [&] { return queue_.get(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  clock_.advance(1min);
  ASSERT_EQ(item.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(item.get(), "a");

  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] { return queue_.get(stop.get_token()); });
  stop.request_stop();
  ASSERT_EQ(stopped.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(stopped.get(), std::nullopt);
}

}  // namespace
}  // namespace kube
