// SPDX-License-Identifier: Apache-2.0
#include <kube/engine/serial_queue.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/serial_queue_core.hpp"
#include "helpers.hpp"

namespace kube::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Close = SerialQueue::Close;

/// Returns whether the signal fires within the time limit of a test.
bool happens(const DoneSignal& signal) {
  return becomes_true([&] { return signal.done(); });
}

struct SerialQueueTest : ThreadsEnd {
  void TearDown() override {
    owned_.reset();
    ThreadsEnd::TearDown();
  }

 private:
  std::unique_ptr<Runtime> owned_ =
      std::make_unique<Runtime>(RuntimeOptions{.threads = 2, .log = Logger{}});

 public:
  Runtime& runtime = *owned_;
};

// SQ-1: otherwise a plain integer that four threads increment through the queue would lose
// increments.
TEST_F(SerialQueueTest, RunsTasksOneAtATimeAndInOrder) {
  constexpr int kEach = 1000;
  SerialQueue queue{runtime};
  std::vector<std::vector<int>> seen(4);
  int total = 0;
  {
    std::vector<std::jthread> posters;
    for (std::size_t p = 0; p < seen.size(); ++p) {
      posters.emplace_back([&, p] {
        for (int i = 0; i < kEach; ++i) {
          EXPECT_TRUE(queue.post([&, p, i] {
            seen[p].push_back(i);
            ++total;
          }));
        }
      });
    }
  }
  queue.close(Close::kDrain);
  ASSERT_TRUE(happens(queue.closed()));
  EXPECT_EQ(total, 4 * kEach);
  for (const std::vector<int>& one : seen) {
    EXPECT_TRUE(std::is_sorted(one.begin(), one.end()));
    EXPECT_EQ(one.size(), kEach);
  }
}

// SQ-1
TEST_F(SerialQueueTest, RunsInlineTasksOnTheThreadOfTheLoop) {
  SerialQueue queue{runtime, Delivery::kInline};
  std::atomic<std::thread::id> queued{};
  std::atomic<std::thread::id> loop{};
  Counter done;
  queue.post([&] {
    queued = std::this_thread::get_id();
    done.add();
  });
  runtime.loop().post([&] {
    loop = std::this_thread::get_id();
    done.add();
  });
  ASSERT_TRUE(done.reaches(2));
  EXPECT_EQ(queued.load(), loop.load());
}

// SQ-2
TEST_F(SerialQueueTest, CostsNeitherThreadNorDescriptorWhileItIsEmpty) {
  const std::size_t threads = thread_count();
  const std::size_t descriptors = descriptor_count();
  std::vector<std::unique_ptr<SerialQueue>> queues;
  for (int i = 0; i < 1000; ++i) queues.push_back(std::make_unique<SerialQueue>(runtime));
  EXPECT_EQ(thread_count(), threads);
  EXPECT_EQ(descriptor_count(), descriptors);
  EXPECT_LE(sizeof(detail::SerialQueueCore), 256U);
}

// SQ-4: the loop's only thread alternates between a queue that is never empty and one with a single
// task.
TEST(SerialQueue, YieldsItsThreadAfterSomeTasks) {
  Runtime runtime{{.threads = 0, .log = Logger{}}};
  SerialQueue busy{runtime};
  SerialQueue other{runtime};
  int runs = 0;
  std::optional<int> seen;
  std::function<void()> again = [&] {
    ++runs;
    if (!seen) busy.post(again);
  };
  busy.post(again);
  other.post([&] { seen = runs; });
  while (!seen) runtime.loop().run_ready();
  EXPECT_LE(*seen, 64);
}

// SQ-5
TEST_F(SerialQueueTest, RunsQueuedTasksBeforeADrainEnds) {
  SerialQueue queue{runtime};
  Gate gate;
  int runs = 0;
  queue.post([&] { gate.pass(); });
  queue.post([&] { ++runs; });
  queue.close(Close::kDrain);
  EXPECT_FALSE(queue.post([&] { runs += 100; }));
  EXPECT_FALSE(queue.closed().done());
  gate.open();
  ASSERT_TRUE(happens(queue.closed()));
  EXPECT_EQ(runs, 1);
}

// SQ-5
TEST_F(SerialQueueTest, DestroysQueuedTasksWhenItIsDiscarded) {
  SerialQueue queue{runtime};
  Gate gate;
  Counter began;
  auto owned = std::make_shared<int>();
  const std::weak_ptr<int> task = owned;
  bool ran = false;
  queue.post([&] {
    began.add();
    gate.pass();
  });
  ASSERT_TRUE(began.reaches(1));
  queue.post([&ran, owned = std::move(owned)] { ran = true; });
  queue.close(Close::kDiscard);
  EXPECT_TRUE(task.expired());
  EXPECT_FALSE(queue.closed().done()) << "the task that had begun has not returned";
  gate.open();
  ASSERT_TRUE(happens(queue.closed()));
  EXPECT_FALSE(ran);
}

// SQ-5
TEST_F(SerialQueueTest, MayBeClosedByItsOwnTask) {
  SerialQueue queue{runtime};
  const DoneSignal closed = queue.closed();
  std::atomic<bool> closed_inside = false;
  queue.post([&] {
    queue.close(Close::kDrain);
    closed_inside = closed.done();
  });
  ASSERT_TRUE(happens(closed));
  EXPECT_FALSE(closed_inside);
  queue.close(Close::kDiscard);
  EXPECT_TRUE(queue.closed().done());
}

// SQ-5: an empty queue is closed.
TEST_F(SerialQueueTest, ClosesWhileItIsEmpty) {
  SerialQueue queue{runtime};
  queue.close(Close::kDrain);
  ASSERT_TRUE(happens(queue.closed()));
}

// SQ-6
TEST_F(SerialQueueTest, HoldsNoThreadWhileItIsPaused) {
  SerialQueue queue{runtime};
  Counter paused;
  Counter resumed;
  queue.post([&] {
    queue.pause();
    paused.add();
  });
  queue.post([&] { resumed.add(); });
  ASSERT_TRUE(paused.reaches(1));
  // Both workers are free while the queue is paused. The jobs own the gate with the test, because
  // they may leave it after the test has ended.
  Counter others;
  const auto gate = std::make_shared<Gate>();
  for (int i = 0; i < 2; ++i) {
    make_job(runtime, Placement::kBlocking, [&others, gate] {
      others.add();
      gate->pass();
    })->schedule();
  }
  ASSERT_TRUE(others.reaches(2));
  gate->open();
  EXPECT_EQ(resumed.value(), 0);
  queue.resume();
  EXPECT_TRUE(resumed.reaches(1));
}

// SQ-6: a resume() is not lost if it comes before the task that paused has returned.
TEST_F(SerialQueueTest, GoesOnIfItIsResumedBeforeThePauseTakesEffect) {
  SerialQueue queue{runtime};
  Counter ran;
  for (int i = 0; i < 1000; ++i) {
    std::jthread other;
    queue.post([&] {
      queue.pause();
      other = std::jthread{[&] { queue.resume(); }};
    });
    queue.post([&] { ran.add(); });
    ASSERT_TRUE(ran.reaches(i + 1));
  }
}

// SQ-6
TEST_F(SerialQueueTest, GoesOnWhenItIsClosedWhilePaused) {
  SerialQueue queue{runtime};
  queue.pause();
  Counter ran;
  queue.post([&] { ran.add(); });
  queue.close(Close::kDrain);
  EXPECT_TRUE(ran.reaches(1));
  queue.pause();
  EXPECT_TRUE(happens(queue.closed()));
}

// LO-8
TEST(SerialQueue, LogsExceptionsOfTasksAndContinues) {
  Lines lines;
  Runtime runtime{{.threads = 1, .log = lines.logger()}};
  SerialQueue queue{runtime};
  Counter ran;
  queue.post([] { throw std::runtime_error("no luck"); });
  queue.post([] { throw 7; });
  queue.post([&] { ran.add(); });
  ASSERT_TRUE(ran.reaches(1));
  EXPECT_THAT(lines.get(), ElementsAre(HasSubstr("no luck"), HasSubstr("task of a serial queue")));
  EXPECT_THROW(queue.post(nullptr), std::invalid_argument);
}

// SQ-5: the end of the Runtime closes its queues, and a queue may outlive it.
TEST(SerialQueue, IsClosedByTheEndOfItsRuntime) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 0, .log = Logger{}});
  SerialQueue queue{*runtime};
  const DoneSignal closed = queue.closed();
  bool ran = false;
  queue.post([&] { ran = true; });
  runtime.reset();
  EXPECT_TRUE(closed.done());
  EXPECT_FALSE(ran);
  EXPECT_FALSE(queue.post([] {}));
  EXPECT_TRUE(queue.closed().done());
}

// SQ-5: a task that owns the queue which contains it.
TEST_F(SerialQueueTest, MayBeOwnedByItsTasks) {
  auto queue = std::make_shared<SerialQueue>(runtime);
  const DoneSignal closed = queue->closed();
  queue->pause();
  SerialQueue& inside = *queue;
  inside.post([owner = std::move(queue)] { ADD_FAILURE() << "discarded tasks do not run"; });
  inside.close(Close::kDiscard);
  EXPECT_TRUE(happens(closed));
}

}  // namespace
}  // namespace kube::test
