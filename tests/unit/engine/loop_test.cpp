// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/epoll.h>

#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "engine/timer.hpp"
#include "helpers.hpp"
#include "system_faults.hpp"

namespace kube::test {
namespace {

/// A loop that the test runs.
class LoopTest : public ThreadsEnd {
 protected:
  [[nodiscard]] bool is_readable(std::chrono::milliseconds limit = 0ms) {
    pollfd one{.fd = loop.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, static_cast<int>(limit.count())) == 1;
  }
  void finish() {
    while (loop.run_ready()) {
    }
  }

  Lines lines;
  Runtime runtime{{.threads = 0, .log = lines.logger()}};
  Loop& loop = runtime.loop();
};

// LO-2: readable, level-triggered, while there is work, and not afterwards.
TEST_F(LoopTest, HasADescriptorThatIsReadableWhileThereIsWork) {
  const int descriptor = loop.descriptor();
  finish();
  EXPECT_FALSE(is_readable());

  int runs = 0;
  loop.post([&] { ++runs; });
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(is_readable());
  finish();
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(is_readable());

  const auto job = make_job(runtime, Placement::kBlocking, [&] { ++runs; });
  job->schedule();
  EXPECT_TRUE(is_readable());
  finish();
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(is_readable());
  EXPECT_EQ(loop.descriptor(), descriptor);
}

// LO-2: also for timers, whenever they were set.
TEST_F(LoopTest, HasADescriptorThatIsReadableWhenATimerIsDue) {
  finish();
  int runs = 0;
  const auto job = make_job(runtime, Placement::kLoop, [&] { ++runs; });
  detail::Timer timer{scheduler_of(runtime), system_clock()};
  detail::Timer later{scheduler_of(runtime), system_clock()};
  (void)loop.descriptor();
  finish();
  later.set(system_clock().now() + 1h, job);
  timer.set(system_clock().now() + 20ms, job);
  finish();  // setting the timer wakes the loop once
  EXPECT_TRUE(is_readable(10s));
  EXPECT_TRUE(becomes_true([&] {
    finish();
    return runs == 1;
  }));
  EXPECT_FALSE(is_readable());

  timer.set(system_clock().now() + 1ms, job);
  EXPECT_TRUE(is_readable(10s));
  EXPECT_TRUE(becomes_true([&] {
    finish();
    return runs == 2;
  }));
}

// LO-2: work left over by a budget keeps the descriptor readable.
TEST_F(LoopTest, HasADescriptorThatIsReadableWhileSomethingIsLeftOver) {
  finish();
  (void)loop.descriptor();
  finish();
  int runs = 0;
  for (int i = 0; i < 3; ++i) loop.post([&] { ++runs; });
  EXPECT_TRUE(loop.run_ready(0ns));
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(is_readable());
  EXPECT_TRUE(loop.run_ready(0ns));
  EXPECT_TRUE(is_readable());
  EXPECT_FALSE(loop.run_ready(0ns));
  EXPECT_EQ(runs, 3);
  EXPECT_FALSE(is_readable());
}

// LO-3: about the budget; a task that posts another does not keep it from returning.
TEST_F(LoopTest, ReturnsWhenTheBudgetIsSpent) {
  int runs = 0;
  const auto busy = [&] {
    ++runs;
    const auto end = std::chrono::steady_clock::now() + 1ms;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (int i = 0; i < 1000; ++i) loop.post(busy);
  EXPECT_TRUE(loop.run_ready(3ms));
  EXPECT_GE(runs, 1);
  EXPECT_LE(runs, 4);

  int rounds = 0;
  std::function<void()> again = [&] {
    ++rounds;
    loop.post(again);
  };
  loop.post(again);
  for (int i = 0; i < 1100 && rounds == 0; ++i) EXPECT_TRUE(loop.run_ready(1ms));
  EXPECT_TRUE(loop.run_ready(1ms));
  EXPECT_GE(rounds, 1);
}

// LO-3: posted tasks run even if jobs use up every budget.
TEST_F(LoopTest, RunsATaskInEveryTurn) {
  const auto greedy =
      make_job(scheduler_of(runtime), Placement::kLoop, [](FunctionJob& self) { self.schedule(); });
  greedy->schedule();
  int runs = 0;
  for (int i = 0; i < 5; ++i) loop.post([&] { ++runs; });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(loop.run_ready(0ns));
  EXPECT_EQ(runs, 5);
}

// LO-3
TEST_F(LoopTest, IsNotRunByItsOwnTasks) {
  bool refused = false;
  loop.post([&] { EXPECT_THROW(loop.run({}), std::logic_error); });
  loop.post([&] {
    try {
      loop.run_ready();
    } catch (const std::logic_error& error) {
      refused = std::string_view{error.what()}.find("return from the task") != std::string::npos;
    }
  });
  finish();
  EXPECT_TRUE(refused);
}

// LO-4: run by one thread at a time, which need not always be the same.
TEST_F(LoopTest, IsRunByOneThreadAtATime) {
  std::stop_source stop;
  Counter runs;
  std::jthread other{[&] { loop.run(stop.get_token()); }};
  loop.post([&] { runs.add(); });
  ASSERT_TRUE(runs.reaches(1));
  EXPECT_THROW(loop.run_ready(), std::logic_error);
  EXPECT_THROW(loop.run(stop.get_token()), std::logic_error);
  EXPECT_THROW((void)loop.descriptor(), std::logic_error);
  stop.request_stop();
  other.join();

  loop.post([&] { runs.add(); });
  finish();
  EXPECT_EQ(runs.value(), 2);
}

// LO-4: a server that stops closes its connections in the role of a loop's thread that has not begun.
// The thread threw when it began, which ended the program.
TEST_F(LoopTest, WaitsForACallInTheRoleOfItsThread) {
  finish();
  pollfd readable{.fd = loop.descriptor(), .events = POLLIN, .revents = 0};
  detail::EventLoop& engine_loop = scheduler_of(runtime)->loop();
  std::jthread other;

  EXPECT_TRUE(engine_loop.call_if_idle([&] {
    other = std::jthread{[&] { EXPECT_NO_THROW(loop.run_ready()); }};
    EXPECT_EQ(::poll(&readable, 1, 20000), 1);  // the other thread wants the loop
  }));
}

// LO-2, LO-4: the program may wait for the descriptor after another thread has run the loop.
TEST_F(LoopTest, HasADescriptorAlsoAfterAThreadHasRunIt) {
  (void)loop.descriptor();
  finish();
  std::stop_source stop;
  Counter runs;
  {
    const std::jthread other{[&] { loop.run(stop.get_token()); }};
    loop.post([&] { runs.add(); });
    ASSERT_TRUE(runs.reaches(1));
    stop.request_stop();
  }
  finish();
  EXPECT_FALSE(is_readable());
  loop.post([&] { runs.add(); });
  EXPECT_TRUE(is_readable());
}

// LO-4: a stop between the loop's check of the token and its wait used to be lost.
TEST_F(LoopTest, EndsWheneverAStopIsRequested) {
  for (int round = 0; round < 1'000; ++round) {
    std::stop_source stop;
    std::atomic<bool> begun = false;
    const std::jthread other{[&] {
      begun = true;
      loop.run(stop.get_token());
    }};
    while (round % 2 == 0 && !begun) std::this_thread::yield();
    if (round % 3 == 0) loop.post([] {});
    stop.request_stop();
  }
}

// LO-5
TEST_F(LoopTest, RunsTheTasksOfAThreadInTheirOrder) {
  constexpr int kThreads = 4;
  constexpr int kTasks = 2'000;
  std::stop_source stop;
  Counter runs;
  std::array<int, kThreads> last{};
  std::jthread runner{[&] { loop.run(stop.get_token()); }};
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < kThreads; ++number) {
      threads.emplace_back([&, number] {
        auto data = std::make_shared<int>(0);
        for (int i = 1; i <= kTasks; ++i) {
          *data = i;
          auto mine = std::exchange(data, std::make_shared<int>(0));
          loop.post([&, number, i, mine] {
            EXPECT_EQ(last.at(number), i - 1);
            EXPECT_EQ(*mine, i);
            last.at(number) = i;
            runs.add();
          });
        }
      });
    }
  }
  EXPECT_TRUE(runs.reaches(kThreads * kTasks));
  stop.request_stop();
}

// LO-5: many posts to a loop that does not run make one system call.
TEST_F(LoopTest, IsWokenOnceForManyPosts) {
  (void)loop.descriptor();
  finish();
  const int before = eventfd_write_fault.calls;
  for (int i = 0; i < 100; ++i) loop.post([] {});
  EXPECT_EQ(eventfd_write_fault.calls, before + 1);
  loop.post([&] {
    for (int i = 0; i < 100; ++i) loop.post([] {});
  });
  finish();
  EXPECT_EQ(eventfd_write_fault.calls, before + 1);
}

TEST_F(LoopTest, IsWokenEvenIfASignalInterrupts) {
  (void)loop.descriptor();
  finish();
  eventfd_write_fault.failures = 5;
  loop.post([] {});
  EXPECT_TRUE(is_readable());
  EXPECT_EQ(eventfd_write_fault.failures, 0);
}

// LO-8
TEST_F(LoopTest, ContinuesAfterATaskHasThrown) {
  int runs = 0;
  loop.post([] { throw std::runtime_error("broken task"); });
  loop.post([] { throw 42; });
  loop.post([&] { ++runs; });
  finish();

  EXPECT_EQ(runs, 1);
  ASSERT_EQ(lines.get().size(), 2U);
  EXPECT_EQ(lines.get()[0], "a task of the loop failed: broken task");
  EXPECT_EQ(lines.get()[1], "a task of the loop failed");
}

TEST_F(LoopTest, RefusesATaskThatIsNoFunction) {
  EXPECT_THROW(loop.post(nullptr), std::invalid_argument);
}

// LO-9
TEST(Loop, DestroysTasksThatHaveNotRun) {
  int runs = 0;
  int destroyed = 0;
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 0});
  const std::shared_ptr<void> note{nullptr, [&, weak = &*runtime](void*) {
                                     ++destroyed;
                                     weak->loop().post([&] { ++runs; });  // refused
                                   }};
  {
    auto copy = note;
    runtime->loop().post([&runs, copy] { ++runs; });
  }
  const_cast<std::shared_ptr<void>&>(note).reset();
  EXPECT_EQ(destroyed, 0);
  runtime.reset();

  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(runs, 0);
}

// LO-9: misuse is detected where possible.
TEST(Loop, ReportsThatItsRuntimeWasDestroyedWhileAThreadRanIt) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 0});
  Counter runs;
  Counter thrown;
  const std::jthread other{[&, loop = &runtime->loop()] {
    try {
      loop->run({});
    } catch (const std::logic_error&) {
      thrown.add();
    }
  }};
  runtime->loop().post([&] { runs.add(); });
  ASSERT_TRUE(runs.reaches(1));
  runtime.reset();

  EXPECT_TRUE(thrown.reaches(1));
}

// RT-12: with threads = 0, a task may drop the Runtime whose loop calls it.
TEST(Loop, MayBeDestroyedByItsOwnTask) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 0});
  Loop& loop = runtime->loop();
  int runs = 0;
  loop.post([&] { runtime.reset(); });
  loop.post([&] { ++runs; });

  EXPECT_FALSE(loop.run_ready());
  EXPECT_EQ(runs, 0);
}

TEST(Loop, IsLeftToTheRuntimeIfThatHasThreads) {
  Runtime runtime{{.threads = 1}};
  EXPECT_THROW(runtime.loop().run_ready(), std::logic_error);
  EXPECT_THROW(runtime.loop().run({}), std::logic_error);
  EXPECT_THROW((void)runtime.loop().descriptor(), std::logic_error);
}

// OL-3, LO-2: an edge-triggered epoll works if it calls run_ready() until that returns false.
TEST_F(LoopTest, WorksInsideALoopThatWaitsForEdges) {
  const detail::FileDescriptor outer{::epoll_create1(EPOLL_CLOEXEC)};
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = loop.descriptor()}};
  ASSERT_EQ(::epoll_ctl(outer.get(), EPOLL_CTL_ADD, loop.descriptor(), &event), 0);
  constexpr int kTasks = 3'000;
  std::atomic<int> runs = 0;
  const std::jthread poster{[&] {
    for (int i = 0; i < kTasks; ++i) {
      loop.post([&] { ++runs; });
      if (i % 5 == 0) std::this_thread::yield();
    }
  }};
  while (runs < kTasks) {
    ASSERT_EQ(::epoll_wait(outer.get(), &event, 1, 20'000), 1) << runs;
    while (loop.run_ready(50us)) {
    }
  }
}

// An idle loop waits in one system call.
TEST(Loop, DoesNotTick) {
  Runtime runtime{{.threads = 1}};
  Counter runs;
  const auto job = make_job(runtime, Placement::kBlocking, [&] { runs.add(); });
  job->schedule();
  ASSERT_TRUE(runs.reaches(1));
  const auto turns = [] { return epoll_wait_fault.calls.load(); };
  // Once it is idle, nothing happens for longer than the library's shortest interval.
  ASSERT_TRUE(becomes_true([&] {
    const int before = turns();
    ::poll(nullptr, 0, 100);
    return turns() == before;
  }));
}

TEST(Loop, ReportsSystemErrors) {
  for (SystemFault* fault : {&epoll_create_fault, &eventfd_fault, &epoll_ctl_fault}) {
    fault->failures = 1;
    EXPECT_THROW(Runtime({.threads = 0}), std::system_error);
    EXPECT_EQ(fault->failures, 0);
  }
  Runtime runtime{{.threads = 0}};
  for (SystemFault* fault : {&timerfd_fault, &epoll_ctl_fault}) {
    fault->failures = 1;
    EXPECT_THROW((void)runtime.loop().descriptor(), std::system_error);
  }
  EXPECT_GE(runtime.loop().descriptor(), 0);
}

}  // namespace
}  // namespace kube::test
