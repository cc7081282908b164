// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "helpers.hpp"

namespace kube::test {
namespace {

class AnyPlacement : public testing::TestWithParam<Placement> {};

INSTANTIATE_TEST_SUITE_P(Job, AnyPlacement,
                         testing::Values(Placement::kLoop, Placement::kLibrary,
                                         Placement::kBlocking));

// A job runs after every call of schedule(), from any thread. Runs do not overlap, and see all
// writes made before the call.
TEST_P(AnyPlacement, RunsOneAtATimeAndAfterEveryCall) {
  constexpr int kThreads = 6;
  constexpr int kCalls = 5'000;
  Runtime runtime{{.threads = 3}};
  std::atomic<bool> is_inside = false;
  std::atomic<int> announced = 0;
  std::array<int, kThreads>
      written{};  // written by the thread of that number, read by the job once that has ended
  std::atomic<int> ended = 0;
  Counter seen;
  const auto job = make_job(runtime, GetParam(), [&] {
    EXPECT_FALSE(is_inside.exchange(true));
    const int now = announced;
    if (ended == kThreads) {
      for (const int each : written) EXPECT_EQ(each, kCalls);
    }
    is_inside = false;
    seen.add(now - seen.value());
  });
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < kThreads; ++number) {
      threads.emplace_back([&, number] {
        for (int i = 0; i < kCalls; ++i) {
          ++written[static_cast<std::size_t>(number)];
          if (i + 1 == kCalls) ++ended;
          ++announced;
          job->schedule();
        }
      });
    }
  }

  EXPECT_TRUE(seen.reaches(kThreads * kCalls));
}

TEST_P(AnyPlacement, RunsOnceForManyCallsBeforeItBegins) {
  Runtime runtime{{.threads = 1}};
  Gate gate;
  Counter runs;
  Counter blocked;
  // The threads that would run the job are busy.
  const auto before = make_job(runtime, GetParam(), [&] {
    blocked.add();
    gate.pass();
  });
  const auto job = make_job(runtime, GetParam(), [&] { runs.add(); });
  const auto last = make_job(runtime, GetParam(), [&] { runs.add(100); });
  before->schedule();
  ASSERT_TRUE(blocked.reaches(1));
  // A third job that does not need a thread of its own: workers are added for jobs that wait.
  for (int i = 0; i < 10; ++i) job->schedule();
  last->schedule();
  gate.open();

  EXPECT_TRUE(runs.reaches(101));
  EXPECT_EQ(runs.value(), 101);
}

TEST_P(AnyPlacement, RunsAgainIfItIsScheduledWhileItRuns) {
  Runtime runtime{{.threads = 1}};
  Counter runs;
  const auto job = make_job(scheduler_of(runtime), GetParam(), [&](FunctionJob& self) {
    if (runs.value() < 9) self.schedule();
    runs.add();
  });
  job->schedule();

  EXPECT_TRUE(runs.reaches(10));
}

// LO-9, RT-7: a job is not leaked if it is scheduled while its Runtime is destroyed.
TEST_P(AnyPlacement, IsReleasedIfTheRuntimeEndsWhileOthersScheduleIt) {
  for (int round = 0; round < 50; ++round) {
    auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 2});
    std::vector<std::shared_ptr<FunctionJob>> jobs;
    std::vector<std::weak_ptr<FunctionJob>> weak;
    for (int i = 0; i < 8; ++i) {
      weak.emplace_back(jobs.emplace_back(make_job(*runtime, GetParam(), [] {})));
    }
    std::atomic<bool> stop = false;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          while (!stop) {
            for (const auto& job : jobs) job->schedule();
          }
        });
      }
      runtime.reset();
      stop = true;
    }
    jobs.clear();

    for (const auto& job : weak) ASSERT_TRUE(job.expired());
  }
}

TEST(Job, OutlivesItsRuntimeWithoutRunning) {
  int runs = 0;
  std::shared_ptr<FunctionJob> job;
  {
    const Runtime runtime{{.threads = 1}};
    job = make_job(runtime, Placement::kLibrary, [&] { ++runs; });
  }
  job->schedule();
  job->schedule();

  EXPECT_EQ(runs, 0);
}

TEST(JobList, KeepsTheOrder) {
  const Runtime runtime{{.threads = 0}};
  const auto make = [&] { return make_job(runtime, Placement::kLoop, [] {}); };
  const auto a = make();
  const auto b = make();
  const auto c = make();
  detail::JobList list;
  detail::JobList other;
  list.append(other);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop(), nullptr);
  list.push(a);
  other.push(b);
  other.push(c);
  list.append(other);
  EXPECT_TRUE(other.empty());

  EXPECT_EQ(list.pop(), a);
  EXPECT_EQ(list.pop(), b);
  list.push(a);
  list.swap(other);
  EXPECT_EQ(other.pop(), c);
  EXPECT_EQ(other.pop(), a);
  EXPECT_TRUE(other.empty());
}

TEST(JobList, ReleasesItsJobs) {
  const Runtime runtime{{.threads = 0}};
  std::weak_ptr<FunctionJob> weak;
  {
    detail::JobList list;
    auto job = make_job(runtime, Placement::kLoop, [] {});
    weak = job;
    list.push(std::move(job));
  }
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace kube::test
