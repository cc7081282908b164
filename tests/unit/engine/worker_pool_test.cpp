// SPDX-License-Identifier: Apache-2.0
#include <kube/base/metrics.hpp>

#include <atomic>
#include <set>
#include <thread>

#include "helpers.hpp"
#include "support/failing_threads.hpp"

namespace kube::test {
namespace {

using testing_support::ThreadFault;

/// Uses the processor for `time`.
void compute(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

class WorkerPoolTest : public ThreadsEnd {
 protected:
  /// Schedules jobs that block until the gate opens.
  void block(const Runtime& runtime, int count, Placement placement = Placement::kBlocking) {
    for (int i = 0; i < count; ++i) {
      jobs.push_back(make_job(runtime, placement, [this] {
        inside.add();
        gate.pass();
        left.add();
      }));
      jobs.back()->schedule();
    }
  }

  Gate gate;
  Counter inside;
  Counter left;
  std::vector<std::shared_ptr<FunctionJob>> jobs;
};

// RT-3
TEST_F(WorkerPoolTest, GrowsWhileAllWorkersAreBlocked) {
  Runtime runtime{{.threads = 2}};
  block(runtime, 12);
  EXPECT_TRUE(inside.reaches(12));
  EXPECT_EQ(runtime.threads(), 13U);
  gate.open();
  EXPECT_TRUE(left.reaches(12));
}

// RT-3: an idle worker is woken for a job, and again for a second one before it has woken up. If
// the first never ends, the second needs another worker.
TEST_F(WorkerPoolTest, LeavesNoJobBehindOneThatNeverEnds) {
  for (int round = 0; round < 30; ++round) {
    Runtime runtime{{.threads = 1}};
    Counter ready;
    const auto first = make_job(runtime, Placement::kBlocking, [&] { ready.add(); });
    first->schedule();
    ASSERT_TRUE(ready.reaches(1));
    Gate held;
    Counter begun;
    const auto stays = [&] {
      begun.add();
      held.pass();
    };
    const auto a = make_job(runtime, Placement::kBlocking, stays);
    const auto b = make_job(runtime, Placement::kBlocking, stays);
    a->schedule();
    b->schedule();
    EXPECT_TRUE(begun.reaches(2));
    held.open();
  }
}

// IE-2: a job that has more to do stays on its worker. Each of its runs woke another worker once,
// which took most of the CPU of a delivery.
TEST_F(WorkerPoolTest, WakesNoOtherWorkerForAJobThatHasMoreToDo) {
  constexpr int kRuns = 1000;
  Runtime runtime{{.threads = 2}};
  block(runtime, 2);
  ASSERT_TRUE(inside.reaches(2));  // both workers exist
  gate.open();
  ASSERT_TRUE(left.reaches(2));
  Counter ended;
  int runs = 0;
  std::set<std::thread::id> threads;
  const auto job = make_job(scheduler_of(runtime), Placement::kBlocking, [&](FunctionJob& self) {
    threads.insert(std::this_thread::get_id());
    if (++runs == kRuns) return ended.add();
    self.schedule();
    std::this_thread::yield();  // lets a worker that was woken take the job
  });
  job->schedule();
  ASSERT_TRUE(ended.reaches(1));
  EXPECT_EQ(threads.size(), 1U);
}

/// Returns whether a Runtime with one worker has no threads except that and its loop's after
/// `attempt`, which returns the number. On a busy machine a worker may make no progress for 10 ms,
/// for lack of a processor or of a lock whose owner has none; so one attempt out of several is
/// enough. A pool that ignored progress would grow in all of them.
template <typename Attempt>
bool stays_small(const Attempt& attempt) {
  for (int tries = 0; tries < 20; ++tries) {
    if (attempt() == 2) return true;
  }
  return false;
}

// RT-3: many short calls start no further worker.
TEST_F(WorkerPoolTest, DoesNotGrowForManyShortCalls) {
  EXPECT_TRUE(stays_small([] {
    Counter runs;
    std::atomic<bool> stop = false;
    std::vector<std::shared_ptr<FunctionJob>> short_jobs;
    Runtime runtime{{.threads = 1}};
    for (int i = 0; i < 10; ++i) {
      short_jobs.push_back(
          make_job(scheduler_of(runtime), Placement::kBlocking, [&](FunctionJob& self) {
            runs.add();
            if (!stop) self.schedule();
          }));
      short_jobs.back()->schedule();
    }
    const auto end = std::chrono::steady_clock::now() + 300ms;
    for (int count = 1; std::chrono::steady_clock::now() < end; ++count) {
      if (!runs.reaches(count * 10)) return std::size_t{0};
    }
    const std::size_t threads = runtime.threads();
    stop = true;
    return threads;
  }));
}

// RT-3: consecutive calls inside one job, each of which reports progress.
TEST_F(WorkerPoolTest, DoesNotGrowForAJobThatMakesProgress) {
  EXPECT_TRUE(stays_small([] {
    Counter begun;
    Counter waited;
    Counter ended;
    Runtime runtime{{.threads = 1}};
    const auto busy = make_job(runtime, Placement::kBlocking, [&] {
      begun.add();
      for (int i = 0; i < 300; ++i) {
        (void)waited.reaches(1, 1ms);
        detail::WorkerPool::note_progress();
      }
    });
    busy->schedule();
    if (!begun.reaches(1)) return std::size_t{0};
    const auto behind = make_job(runtime, Placement::kBlocking, [&] { ended.add(); });
    behind->schedule();
    if (!ended.reaches(1)) return std::size_t{0};
    return runtime.threads();
  }));
}

// RT-3: a worker that computes is busy, not blocked.
TEST_F(WorkerPoolTest, GrowsToTheNumberOfProcessorsForJobsThatCompute) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  Runtime runtime{{.threads = 1}};
  std::size_t most = 0;
  for (unsigned i = 0; i < processors * 8; ++i) {
    jobs.push_back(make_job(runtime, Placement::kBlocking, [&] {
      compute(100ms);
      left.add();
    }));
    jobs.back()->schedule();
  }
  for (int count = 1; count <= static_cast<int>(processors * 8); ++count) {
    ASSERT_TRUE(left.reaches(count));
    most = std::max(most, runtime.threads());
  }

  EXPECT_LE(most, 1 + processors);
}

// RT-3: added workers end when idle, down to the number of the options.
TEST_F(WorkerPoolTest, ShrinksWhenThereIsNothingToDo) {
  const std::size_t before = thread_count();
  const auto scheduler = std::make_shared<Scheduler>(
      detail::WorkerPoolOptions{.threads = 2, .max_threads = 64, .idle_end = 30ms}, Logger{});
  scheduler->workers().start(scheduler);
  std::stop_source stop;
  const std::jthread loop{[&] { scheduler->loop().run(stop.get_token()); }};
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(make_job(scheduler, Placement::kBlocking, [&](FunctionJob&) {
      inside.add();
      gate.pass();
    }));
    jobs.back()->schedule();
  }
  ASSERT_TRUE(inside.reaches(8));
  EXPECT_EQ(scheduler->workers().size(), 8U);
  gate.open();
  EXPECT_TRUE(becomes_true([&] { return scheduler->workers().size() == 2; }));
  // Their stacks are released, too: a worker that has ended may still wait for the next one to join
  // it.
  EXPECT_TRUE(becomes_true([&] { return thread_count() <= before + 4; }));
  const auto again = make_job(scheduler, Placement::kBlocking, [&](FunctionJob&) { left.add(); });
  again->schedule();
  EXPECT_TRUE(left.reaches(1));

  scheduler->workers().close(detail::WorkerPool::Close::kAndWait);
  stop.request_stop();
}

// RT-4: at the limit, jobs that may block wait, and those of the library continue.
TEST_F(WorkerPoolTest, KeepsAWorkerForJobsOfTheLibrary) {
  Runtime runtime{{.threads = 1, .max_threads = 3}};
  block(runtime, 5);
  ASSERT_TRUE(inside.reaches(3));
  Counter library;
  const auto job = make_job(runtime, Placement::kLibrary, [&] { library.add(); });
  for (int i = 1; i <= 20; ++i) {
    job->schedule();
    ASSERT_TRUE(library.reaches(i));
  }
  EXPECT_EQ(inside.value(), 3);
  EXPECT_LE(runtime.threads(), 5U);

  gate.open();
  EXPECT_TRUE(left.reaches(5));
}

// RT-4: as soon as one returns, the next one runs.
TEST_F(WorkerPoolTest, GoesOnAsSoonAsABlockedJobReturns) {
  Runtime runtime{{.threads = 2, .max_threads = 1}};
  Gate first;
  Counter order;
  const auto a = make_job(runtime, Placement::kBlocking, [&] {
    inside.add();
    first.pass();
  });
  a->schedule();
  ASSERT_TRUE(inside.reaches(1));
  const auto b = make_job(runtime, Placement::kBlocking, [&] { order.add(); });
  b->schedule();
  const auto library = make_job(runtime, Placement::kLibrary, [&] { left.add(); });
  library->schedule();
  ASSERT_TRUE(left.reaches(1));
  EXPECT_EQ(order.value(), 0);
  first.open();

  EXPECT_TRUE(order.reaches(1));
}

/// A pool with a limit of two workers inside user code, and a loop that looks after it.
class WorkerLimitTest : public WorkerPoolTest {
 protected:
  void start(detail::WorkerPoolOptions options) {
    options.threads = 1;
    options.max_threads = 2;
    scheduler = std::make_shared<Scheduler>(options, lines.logger());
    scheduler->workers().start(scheduler);
    loop = std::jthread{[this](const std::stop_token& stop) { scheduler->loop().run(stop); }};
  }
  void TearDown() override {
    scheduler->workers().close(detail::WorkerPool::Close::kAndWait);
    loop = {};
    WorkerPoolTest::TearDown();
  }
  std::shared_ptr<FunctionJob> stay(const char* name, const Gate& until) {
    auto job = make_job(
        scheduler, Placement::kBlocking,
        [&](FunctionJob&) {
          inside.add();
          until.pass();
          left.add();
        },
        name);
    job->schedule();
    return job;
  }
  [[nodiscard]] std::vector<std::string> blocked() const {
    std::vector<std::string> names;
    for (const auto& each : scheduler->workers().blocked()) names.push_back(each.name);
    return names;
  }

  Lines lines;
  std::shared_ptr<Scheduler> scheduler;
  std::jthread loop;
};

using Names = std::vector<std::string>;

// RT-4: those that block are named while the limit holds others back, longest first, in one line per minute.
TEST_F(WorkerLimitTest, NamesTheJobsThatBlock) {
  start({.report_after = 1ms});
  const auto first = stay("first", gate);
  ASSERT_TRUE(inside.reaches(1));
  Gate second_gate;
  const auto second = stay("second", second_gate);
  ASSERT_TRUE(inside.reaches(2));
  EXPECT_EQ(blocked(), Names{}) << "nothing waits yet";

  const auto third = stay("third", gate);
  ASSERT_TRUE(becomes_true([&] { return lines.get().size() == 1; }));
  ASSERT_TRUE(becomes_true([&] { return blocked() == (Names{"first", "second"}); }));
  EXPECT_EQ(lines.get().at(0).find("handlers wait, as all 2 threads that may block do so: first"),
            0U)
      << lines.get().at(0);
  EXPECT_NE(lines.get().at(0).find("raise RuntimeOptions::max_threads"), std::string::npos);

  // The limit holds back another job within the minute: no second line.
  second_gate.open();
  ASSERT_TRUE(inside.reaches(3));
  EXPECT_EQ(blocked(), Names{}) << "nothing waits any more";
  const auto fourth = stay("fourth", gate);
  ASSERT_TRUE(becomes_true([&] { return blocked() == (Names{"first", "third"}); }));
  EXPECT_EQ(lines.get().size(), 1U);

  gate.open();
  EXPECT_TRUE(left.reaches(4));
  EXPECT_EQ(blocked(), Names{});
}

// RT-4: as long as it lasts, it is said again.
TEST_F(WorkerLimitTest, NamesTheJobsThatBlockAgain) {
  start({.report_after = 1ms, .report_every = 20ms});
  const auto first = stay("first", gate);
  const auto second = stay("second", gate);
  const auto third = stay("third", gate);

  EXPECT_TRUE(becomes_true([&] { return lines.get().size() >= 3; }));
  gate.open();
  EXPECT_TRUE(left.reaches(3));
}

// RT-4: jobs of the library that come meanwhile do not have to wait for the next report.
TEST_F(WorkerLimitTest, GoesOnWithJobsOfTheLibrary) {
  start({.report_after = 1ms, .report_every = 1min});
  const auto first = stay("first", gate);
  const auto second = stay("second", gate);
  const auto third = stay("third", gate);
  ASSERT_TRUE(becomes_true([&] { return lines.get().size() == 1; }));

  Counter library;
  const auto job = make_job(
      scheduler, Placement::kLibrary, [&](FunctionJob&) { library.add(); }, "library");
  job->schedule();
  EXPECT_TRUE(library.reaches(1, 10s));
  gate.open();
  EXPECT_TRUE(left.reaches(3));
}

// RT-4: the registry of the options shows who blocks while the limit holds others back, and nothing else.
TEST_F(WorkerPoolTest, ShowsTheJobsThatBlockInAMetric) {
  const auto metrics = std::make_shared<Metrics>();
  const std::string series = "\nruntime_blocked_seconds{handler=\"a task\"} ";
  {
    Runtime runtime{{.threads = 1, .max_threads = 1, .log = {}, .metrics = metrics}};
    block(runtime, 1);
    ASSERT_TRUE(inside.reaches(1));
    EXPECT_EQ(metrics->text(), "");
    block(runtime, 1);
    EXPECT_TRUE(becomes_true([&] { return metrics->text().find(series) != std::string::npos; }));

    gate.open();
    ASSERT_TRUE(left.reaches(2));
    EXPECT_EQ(metrics->text(), "");

    Gate again;
    const auto stay = [&] { again.pass(); };
    const auto first = make_job(runtime, Placement::kBlocking, stay);
    const auto second = make_job(runtime, Placement::kBlocking, stay);
    first->schedule();
    second->schedule();
    EXPECT_TRUE(becomes_true([&] { return metrics->text().find(series) != std::string::npos; }));
    again.open();
  }
  EXPECT_EQ(metrics->text(), "");
}

TEST_F(WorkerPoolTest, HasNoLimitIfThatIsWanted) {
  Runtime runtime{{.threads = 1, .max_threads = 0}};
  block(runtime, 70);
  EXPECT_TRUE(inside.reaches(70));
  gate.open();
}

// RT-5: without any worker the loop's thread runs jobs of the library; jobs that may block wait for
// a worker.
TEST_F(WorkerPoolTest, GoesOnWithoutWorkers) {
  Lines lines;
  Runtime runtime{{.threads = 2, .log = lines.logger()}};
  Counter library;
  Counter blocking;
  const auto a = make_job(scheduler_of(runtime), Placement::kLibrary, [&](FunctionJob& self) {
    EXPECT_TRUE(scheduler_of(runtime)->loop().is_here());
    if (library.value() < 50) self.schedule();
    library.add();
  });
  const auto b = make_job(runtime, Placement::kBlocking, [&] { blocking.add(); });
  {
    const ThreadFault fault{1'000'000};
    a->schedule();
    b->schedule();
    EXPECT_TRUE(library.reaches(50));
    EXPECT_EQ(runtime.threads(), 1U);
    EXPECT_EQ(blocking.value(), 0);
  }
  EXPECT_TRUE(blocking.reaches(1));
  EXPECT_EQ(lines.get().size(), 1U);
  EXPECT_NE(lines.get().at(0).find("a worker thread could not be created, continuing with 0"),
            std::string::npos);
}

// RT-5: the library also continues if all existing workers are blocked for ever.
TEST_F(WorkerPoolTest, GoesOnIfAllWorkersAreBlockedAndNoneCanBeAdded) {
  Runtime runtime{{.threads = 1, .log = {}}};
  block(runtime, 1);
  ASSERT_TRUE(inside.reaches(1));
  const ThreadFault fault{1'000'000};
  Counter library;
  const auto job = make_job(runtime, Placement::kLibrary, [&] { library.add(); });
  for (int i = 1; i <= 5; ++i) {
    job->schedule();
    ASSERT_TRUE(library.reaches(i));
  }
  gate.open();
}

}  // namespace
}  // namespace kube::test
