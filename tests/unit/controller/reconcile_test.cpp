// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/reconcile.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/workqueue/rate_limiting_queue.hpp>

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace kube {
namespace {

using namespace std::chrono_literals;

const Request kRequest{{"team-a", "web"}};

class ReconcileTest : public ::testing::Test {
 protected:
  template <typename Reconcile>
  ReconcileOutcome run(Reconcile reconcile, int priority = 0) {
    queue_.add(kRequest, {.priority = priority});
    const auto item = queue_.get_with_priority();
    EXPECT_EQ(item->item, kRequest);
    return reconcile_item(queue_, item->item, item->priority, reconcile);
  }
  /// Expects the request to return after that time, with that priority.
  void expect_again(Clock::Duration after, int priority) {
    clock_.advance(after - 1ns);
    EXPECT_EQ(queue_.size(), 0U);
    clock_.advance(1ns);
    ASSERT_EQ(queue_.size(), 1U);
    EXPECT_EQ(queue_.get_with_priority()->priority, priority);
    queue_.done(kRequest);
  }
  void expect_gone() {
    clock_.advance(24h);
    EXPECT_EQ(queue_.size(), 0U);
  }

  testkit::FakeClock clock_;
  PriorityQueue<Request> queue_{{.clock = &clock_}};
};

// CF-2
TEST_F(ReconcileTest, ForgetsFailuresOnSuccess) {
  queue_.add_rate_limited(kRequest);
  EXPECT_EQ(run([](const Request&) { return done(); }), ReconcileOutcome::kSuccess);
  EXPECT_EQ(queue_.num_requeues(kRequest), 0);
  expect_gone();
}

// CF-2, CF-3, CF-5
TEST_F(ReconcileTest, RequeuesWithBackoffAfterErrors) {
  const auto fails = [](const Request&) -> Result { throw std::runtime_error{"no"}; };
  EXPECT_EQ(run(fails, 7), ReconcileOutcome::kError);
  expect_again(5ms, 7);
  EXPECT_EQ(run(fails, kLowPriority), ReconcileOutcome::kError);
  expect_again(10ms, kLowPriority);
  EXPECT_EQ(run([](const Request&) -> Result { throw 42; }), ReconcileOutcome::kError);
  expect_again(20ms, 0);
}

// CF-2
TEST_F(ReconcileTest, DoesNotRequeueAfterATerminalError) {
  EXPECT_EQ(run([](const Request&) -> Result { throw TerminalError{"never"}; }),
            ReconcileOutcome::kTerminalError);
  expect_gone();
}

// CF-2, CF-3
TEST_F(ReconcileTest, RequeuesAfterExactlyTheGivenTimeAndForgetsFailures) {
  queue_.add_rate_limited(kRequest);
  EXPECT_EQ(run([](const Request&) { return requeue_after(10min); }, 3),
            ReconcileOutcome::kRequeueAfter);
  EXPECT_EQ(queue_.num_requeues(kRequest), 0);
  expect_again(10min, 3);
}

// CF-2, CF-3
TEST_F(ReconcileTest, RequeuesWithItsBackoffIfRequested) {
  queue_.add_rate_limited(kRequest);
  const auto again = [](const Request&) {
    Result result = requeue();
    result.priority = 9;
    return result;
  };
  EXPECT_EQ(run(again), ReconcileOutcome::kRequeue);
  EXPECT_EQ(queue_.num_requeues(kRequest), 2);
  expect_again(10ms, 9);
}

// CF-1, CF-2: also with a queue without priorities.
TEST_F(ReconcileTest, WorksWithAPlainQueue) {
  RateLimitingQueue<Request> plain{{.clock = &clock_}};
  plain.add(kRequest);
  const auto item = plain.get();
  EXPECT_EQ(reconcile_item(plain, *item, 0, [](const Request&) { return requeue_after(1s); }),
            ReconcileOutcome::kRequeueAfter);
  clock_.advance(1s);
  EXPECT_EQ(plain.get(), kRequest);
  EXPECT_EQ(reconcile_item(plain, *item, 0, [](const Request&) -> Result { throw Error{"no"}; }),
            ReconcileOutcome::kError);
  EXPECT_EQ(plain.num_requeues(kRequest), 1);
  clock_.advance(5ms);
  EXPECT_EQ(plain.size(), 1U);
}

/// A queue that lacks memory for the first tries to add an item again.
struct ForgetfulQueue {
  void add_rate_limited(const Request&) {
    if (failures-- > 0) throw std::bad_alloc{};
    ++added;
  }
  void add_after(const Request&, Clock::Duration) {}
  void forget(const Request&) {}
  void done(const Request&) { ++ended; }

  int failures = 3;
  int added = 0;
  int ended = 0;
};

// CF-2: a failed request is not lost during a short lack of memory.
TEST(Reconcile, RequeuesDespiteAShortLackOfMemory) {
  ForgetfulQueue queue;
  const auto fails = [](const Request&) -> Result { throw std::runtime_error{"no"}; };

  EXPECT_EQ(reconcile_item(queue, kRequest, 0, fails), ReconcileOutcome::kError);
  EXPECT_EQ(queue.added, 1);
  EXPECT_EQ(queue.ended, 1);
}

}  // namespace
}  // namespace kube
