// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/priority_queue.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class QueueMetrics : public ::testing::Test {
 protected:
  testkit::FakeClock clock_;
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  WorkQueueOptions options_{.name = "q", .metrics = metrics_, .clock = &clock_};

  void expect_line(const std::string& line) {
    EXPECT_THAT(metrics_->text(), HasSubstr(line + "\n"));
  }
};

// WQ-20
TEST_F(QueueMetrics, AreNotRecordedWithoutAName) {
  options_.name.clear();
  WorkQueue<int> plain{options_};
  PriorityQueue<int> with_priorities{options_};
  plain.add(1);
  with_priorities.add(1);

  EXPECT_EQ(metrics_->text(), "");
}

// WQ-20
TEST_F(QueueMetrics, AreAllThereFromTheStart) {
  const WorkQueue<int> queue{options_};
  expect_line("workqueue_depth{name=\"q\"} 0");
  expect_line("workqueue_adds_total{name=\"q\"} 0");
  expect_line("workqueue_queue_duration_seconds_count{name=\"q\"} 0");
  expect_line("workqueue_work_duration_seconds_count{name=\"q\"} 0");
  expect_line("workqueue_unfinished_work_seconds{name=\"q\"} 0");
  expect_line("workqueue_longest_running_processor_seconds{name=\"q\"} 0");
  expect_line("workqueue_retries_total{name=\"q\"} 0");
}

// WQ-21
TEST_F(QueueMetrics, HaveTenBucketsFromTenNanosecondsOn) {
  const WorkQueue<int> queue{options_};
  for (const char* bound :
       {"1e-08", "1e-07", "1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1", "10", "+Inf"}) {
    expect_line("workqueue_queue_duration_seconds_bucket{name=\"q\",le=\"" + std::string{bound} +
                "\"} 0");
  }
}

// WQ-21
TEST_F(QueueMetrics, CountAddsThatMakeAnItemDirty) {
  WorkQueue<int> queue{options_};
  queue.add(1);
  queue.add(1);
  expect_line("workqueue_depth{name=\"q\"} 1");
  expect_line("workqueue_adds_total{name=\"q\"} 1");

  EXPECT_EQ(queue.get(), 1);
  expect_line("workqueue_depth{name=\"q\"} 0");
  queue.add(1);
  queue.add(1);
  expect_line("workqueue_depth{name=\"q\"} 1");
  expect_line("workqueue_adds_total{name=\"q\"} 2");
}

// WQ-20, WQ-21
TEST_F(QueueMetrics, MeasureTheTimeInTheQueueAndInProcessing) {
  WorkQueue<int> queue{options_};
  queue.add(1);
  clock_.advance(500ms);
  EXPECT_EQ(queue.get(), 1);
  clock_.advance(2s);
  queue.done(1);

  expect_line("workqueue_queue_duration_seconds_sum{name=\"q\"} 0.5");
  expect_line("workqueue_work_duration_seconds_sum{name=\"q\"} 2");

  // The time of a delayed item counts from when it was due, even if the queue was not used then.
  queue.add_after(2, 1s);
  clock_.advance(5s);
  EXPECT_EQ(queue.get(), 2);
  expect_line("workqueue_queue_duration_seconds_sum{name=\"q\"} 4.5");
}

// WQ-20: computed on collection, so never older than the required 500 ms.
TEST_F(QueueMetrics, MeasureRunningWork) {
  WorkQueue<int> queue{options_};
  queue.add(1);
  queue.add(2);
  EXPECT_EQ(queue.get(), 1);
  clock_.advance(500ms);
  EXPECT_EQ(queue.get(), 2);
  clock_.advance(500ms);
  expect_line("workqueue_unfinished_work_seconds{name=\"q\"} 1.5");
  expect_line("workqueue_longest_running_processor_seconds{name=\"q\"} 1");

  queue.done(1);
  expect_line("workqueue_unfinished_work_seconds{name=\"q\"} 0.5");
  expect_line("workqueue_longest_running_processor_seconds{name=\"q\"} 0.5");
}

// WQ-21
TEST_F(QueueMetrics, CountRetriesOfAnyDelay) {
  RateLimitingQueue<int> queue{options_};
  queue.add_after(1, 1s);
  queue.add_after(1, 0s);
  queue.add_after(1, 2s);
  queue.add_rate_limited(1);
  queue.add(1);
  expect_line("workqueue_retries_total{name=\"q\"} 4");
  queue.shut_down();
  queue.add_after(1, 1s);
  queue.add_after(1, 0s);
  expect_line("workqueue_retries_total{name=\"q\"} 4");
}

// WQ-35, WQ-32
TEST_F(QueueMetrics, DistinguishPriorities) {
  PriorityQueue<int> queue{options_};
  queue.add(1, {.priority = 5});
  queue.add(2, {.priority = kLowPriority});
  queue.add(3, {.priority = 5, .after = 1s});
  queue.add(4, {.after = 0s});
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"5\"} 1");
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"-100\"} 1");
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"0\"} 1");
  expect_line("workqueue_adds_total{controller=\"q\",name=\"q\"} 3");
  expect_line("workqueue_retries_total{controller=\"q\",name=\"q\"} 1");

  clock_.advance(1s);
  queue.add(2, {.priority = 5});
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"5\"} 3");
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"-100\"} 0");
  expect_line("workqueue_adds_total{controller=\"q\",name=\"q\"} 4");

  EXPECT_EQ(queue.get(), 1);
  clock_.advance(3s);
  expect_line("workqueue_depth{controller=\"q\",name=\"q\",priority=\"5\"} 2");
  expect_line("workqueue_unfinished_work_seconds{controller=\"q\",name=\"q\"} 3");
  queue.done(1);
  expect_line("workqueue_queue_duration_seconds_sum{controller=\"q\",name=\"q\"} 1");
  expect_line("workqueue_work_duration_seconds_sum{controller=\"q\",name=\"q\"} 3");
}

TEST_F(QueueMetrics, OutliveTheQueue) {
  { const WorkQueue<int> queue{options_}; }
  expect_line("workqueue_depth{name=\"q\"} 0");
}

}  // namespace
}  // namespace kube
