// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime_access.hpp"
#include <kube/engine/runtime.hpp>

#include <pthread.h>

#include <array>
#include <atomic>
#include <csignal>
#include <system_error>
#include <thread>

#include "helpers.hpp"
#include "support/failing_threads.hpp"

namespace kube::test {
namespace {

std::string name_of_this_thread() {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  return name.data();
}

using RuntimeTest = ThreadsEnd;

// RT-1: a worker is created when a job first needs it.
TEST_F(RuntimeTest, MakesWorkersWhenTheyAreNeeded) {
  Runtime runtime{{.threads = 3}};
  EXPECT_EQ(runtime.threads(), 1U);
  Gate gate;
  Counter inside;
  std::vector<std::shared_ptr<FunctionJob>> jobs;
  for (std::size_t i = 1; i <= 3; ++i) {
    jobs.push_back(make_job(runtime, Placement::kBlocking, [&] {
      inside.add();
      gate.pass();
    }));
    jobs.back()->schedule();
    ASSERT_TRUE(inside.reaches(static_cast<int>(i)));
    EXPECT_EQ(runtime.threads(), 1 + i);
  }
  gate.open();
}

// RT-1: names for `ps -L`. RT-14: they handle no signal of the program, except for faults.
TEST_F(RuntimeTest, NamesItsThreadsAndBlocksSignals) {
  Runtime runtime{{.threads = 1}};
  std::string io;
  std::string worker;
  Counter done;
  const auto check = [&](std::string& name) {
    name = name_of_this_thread();
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE, SIGALRM}) {
      EXPECT_EQ(::sigismember(&blocked, signal), 1) << signal;
    }
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
      EXPECT_EQ(::sigismember(&blocked, signal), 0) << signal;
    }
    done.add();
  };
  runtime.loop().post([&] { check(io); });
  const auto job = make_job(runtime, Placement::kBlocking, [&] { check(worker); });
  job->schedule();
  ASSERT_TRUE(done.reaches(2));

  EXPECT_EQ(io, "kube-io");
  EXPECT_EQ(worker, "kube-work-0");
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(::sigismember(&mine, SIGINT), 0);
}

// RT-5: without a thread for the loop there is no Runtime.
TEST_F(RuntimeTest, NeedsAThreadForTheLoop) {
  const std::size_t descriptors = descriptor_count();
  {
    const testing_support::ThreadFault fault{1};
    EXPECT_THROW(Runtime{}, std::system_error);
  }
  EXPECT_EQ(descriptor_count(), descriptors);
}

// RT-6: the library creates no thread, and nothing happens unless the program runs the loop.
TEST_F(RuntimeTest, CreatesNoThreadIfThatIsWanted) {
  const testing_support::ThreadFault fault{1'000'000};
  Runtime runtime{{.threads = 0}};
  EXPECT_EQ(runtime.threads(), 0U);
  std::vector<std::thread::id> ids;
  std::vector<std::shared_ptr<FunctionJob>> jobs;
  for (const Placement placement :
       {Placement::kLoop, Placement::kLibrary, Placement::kBlocking, Placement::kBlocking}) {
    jobs.push_back(
        make_job(runtime, placement, [&] { ids.push_back(std::this_thread::get_id()); }));
    jobs.back()->schedule();
  }
  EXPECT_TRUE(ids.empty());
  while (runtime.loop().run_ready()) {
  }

  EXPECT_EQ(ids, std::vector(4, std::this_thread::get_id()));
  EXPECT_EQ(fault.left(), 1'000'000);
}

// RT-7: the destructor waits for user code, and leaves no thread.
TEST_F(RuntimeTest, EndsItsThreadsInTheDestructor) {
  const std::size_t before = thread_count();
  Gate gate;
  Counter inside;
  std::atomic<bool> finished = false;
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 2});
  const auto job = make_job(*runtime, Placement::kBlocking, [&] {
    inside.add();
    gate.pass();
    finished = true;
  });
  job->schedule();
  ASSERT_TRUE(inside.reaches(1));
  std::jthread opener{[&] { gate.open(); }};
  runtime.reset();

  EXPECT_TRUE(finished);
  opener.join();
  EXPECT_TRUE(becomes_true([&] { return thread_count() == before; }));
}

// The loop completes work that a worker waits for, even while the Runtime is being destroyed.
TEST_F(RuntimeTest, RunsTheLoopUntilTheWorkersHaveEnded) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.threads = 1});
  Loop& loop = runtime->loop();
  Counter inside;
  Counter completed;
  const auto job = make_job(*runtime, Placement::kBlocking, [&] {
    inside.add();
    for (int i = 1; i <= 100; ++i) {
      loop.post([&] { completed.add(); });
      EXPECT_TRUE(completed.reaches(i));
    }
  });
  job->schedule();
  ASSERT_TRUE(inside.reaches(1));
  runtime.reset();

  EXPECT_EQ(completed.value(), 100);
}

class DestroyedOn : public testing::TestWithParam<Placement> {};
INSTANTIATE_TEST_SUITE_P(Runtime, DestroyedOn,
                         testing::Values(Placement::kLoop, Placement::kLibrary,
                                         Placement::kBlocking));

// RT-12: the last reference may be dropped on a thread of the Runtime, which then ends by itself.
TEST_P(DestroyedOn, AThreadOfItsOwn) {
  const std::size_t before = thread_count();
  for (int round = 0; round < 50; ++round) {
    auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 2});
    Counter others;
    const auto other = make_job(*runtime, Placement::kBlocking, [&] { others.add(); });
    other->schedule();
    ASSERT_TRUE(others.reaches(1));
    std::atomic<Runtime*> gone = runtime.get();
    Counter done;
    auto job = make_job(*runtime, GetParam(), [&] {
      runtime.reset();
      gone = nullptr;
      done.add();
    });
    job->schedule();
    ASSERT_TRUE(done.reaches(1));
    EXPECT_EQ(gone, nullptr);
    job.reset();
  }
  EXPECT_TRUE(becomes_true([&] { return thread_count() == before; }));
}

// RT-12: also by the destructor of a task that never ran.
TEST_F(RuntimeTest, MayBeHeldByItsOwnTasks) {
  for (int round = 0; round < 50; ++round) {
    auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1});
    runtime->loop().post([runtime] {});
    const auto job = make_job(*runtime, Placement::kLibrary, [] {});
    job->schedule();
  }
}

TEST_F(RuntimeTest, IsSharedByThoseWhoNameNone) {
  std::weak_ptr<Runtime> weak;
  {
    const auto a = detail::shared_runtime();
    const auto b = detail::shared_runtime();
    EXPECT_EQ(a, b);
    weak = a;
  }
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace kube::test
