// SPDX-License-Identifier: Apache-2.0
#include "base/no_wait.hpp"
#include "engine/descriptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <optional>
#include <stdexcept>
#include <thread>

#include "helpers.hpp"

namespace kube::test {
namespace {

using InlineJobTest = ThreadsEnd;

// IE-9: with nothing to read, the loop's thread runs the jobs that it has scheduled; no worker is
// created.
TEST_F(InlineJobTest, RunsOnTheLoopThatScheduledIt) {
  Runtime runtime{{.threads = 2}};
  std::thread::id loop_thread;
  std::thread::id job_thread;
  Counter ran;
  const auto job = make_job(runtime, Placement::kLibrary, [&] {
    job_thread = std::this_thread::get_id();
    ran.add();
  });
  runtime.loop().post([&] {
    loop_thread = std::this_thread::get_id();
    job->schedule();
  });
  ASSERT_TRUE(ran.reaches(1));
  EXPECT_EQ(job_thread, loop_thread);
  EXPECT_EQ(runtime.threads(), 1U);
}

// IE-9: jobs that inline jobs schedule run there, too.
TEST_F(InlineJobTest, RunsJobsScheduledByAnInlineJob) {
  Runtime runtime{{.threads = 2}};
  Counter ran;
  const auto second = make_job(runtime, Placement::kLibrary, [&] { ran.add(); });
  const auto first = make_job(runtime, Placement::kLibrary, [&] { second->schedule(); });
  runtime.loop().post([&] { first->schedule(); });
  ASSERT_TRUE(ran.reaches(1));
  EXPECT_EQ(runtime.threads(), 1U);
}

// IE-9: work that exceeds one run moves to a worker.
TEST_F(InlineJobTest, GoesToAWorkerIfThereIsMoreToDo) {
  Runtime runtime{{.threads = 1}};
  std::vector<std::thread::id> threads;
  Counter ran;
  const auto job = make_job(scheduler_of(runtime), Placement::kLibrary, [&](FunctionJob& self) {
    threads.push_back(std::this_thread::get_id());
    if (threads.size() < 3) self.schedule();
    ran.add();
  });
  runtime.loop().post([&] { job->schedule(); });
  ASSERT_TRUE(ran.reaches(3));
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_EQ(threads[1], threads[2]);
}

// IE-4: a job that was found to be slow is not run by the loop again.
TEST_F(InlineJobTest, LeavesTheLoopPermanently) {
  Runtime runtime{{.threads = 1}};
  std::atomic<bool> on_loop = true;
  std::thread::id loop_thread;
  Counter ran;
  const auto job = make_job(runtime, Placement::kLibrary, [&] {
    on_loop = std::this_thread::get_id() == loop_thread;
    ran.add();
  });
  job->leave_loop();
  runtime.loop().post([&] {
    loop_thread = std::this_thread::get_id();
    job->schedule();
  });
  ASSERT_TRUE(ran.reaches(1));
  EXPECT_FALSE(on_loop);
}

// IE-9: reading has priority. While a descriptor is always ready, workers run the jobs.
TEST_F(InlineJobTest, GoesToAWorkerWhileThereIsMoreToRead) {
  Runtime runtime{{.threads = 1}};
  const detail::FileDescriptor always{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
  const auto& scheduler = scheduler_of(runtime);
  std::thread::id loop_thread;
  std::thread::id job_thread;
  Counter ran;
  const auto job = make_job(runtime, Placement::kLibrary, [&] {
    job_thread = std::this_thread::get_id();
    ran.add();
  });
  std::optional<detail::Descriptor> descriptor;
  const auto reader = make_job(runtime, Placement::kLoop, [&] { job->schedule(); });
  Counter closed;
  runtime.loop().post([&] {
    loop_thread = std::this_thread::get_id();
    descriptor.emplace(scheduler->loop(), always.get(), reader);
    descriptor->wait_for(POLLIN);
  });
  ASSERT_TRUE(ran.reaches(1));
  EXPECT_NE(job_thread, loop_thread);
  runtime.loop().post([&] {
    descriptor.reset();
    closed.add();
  });
  ASSERT_TRUE(closed.reaches(1));
}

// RT-10: code that must not wait gets an error with the remedy, on any thread.
TEST_F(InlineJobTest, RefusesToWaitInCodeThatMustNot) {
  Runtime runtime{{.threads = 1}};
  std::vector<std::string> errors;
  Counter done;
  const auto wait = [&] {
    try {
      (void)system_clock().sleep_for(1h, {});
      ADD_FAILURE() << "it has waited";
    } catch (const std::logic_error& error) {
      errors.emplace_back(error.what());
    }
    done.add();
  };
  const auto library = make_job(runtime, Placement::kLibrary, wait);
  library->schedule();  // scheduled by this thread, hence run by a worker
  ASSERT_TRUE(done.reaches(1));
  runtime.loop().post(wait);
  ASSERT_TRUE(done.reaches(2));
  for (const std::string& error : errors) {
    EXPECT_TRUE(error.starts_with("sleep_until() was called where nothing may wait")) << error;
  }
  const auto blocking = make_job(runtime, Placement::kBlocking, [&] {
    EXPECT_FALSE(detail::NoWaitCode::is_here());
    done.add();
  });
  blocking->schedule();
  ASSERT_TRUE(done.reaches(3));
}

// RT-6, RT-10: without threads, all jobs run on the program's thread, which would wait for itself.
TEST_F(InlineJobTest, WithoutThreadsNoJobMayWait) {
  Runtime runtime{{.threads = 0}};
  bool refused = false;
  const auto job =
      make_job(runtime, Placement::kBlocking, [&] { refused = detail::NoWaitCode::is_here(); });
  job->schedule();
  while (runtime.loop().run_ready()) {
  }
  EXPECT_TRUE(refused);
  EXPECT_FALSE(detail::NoWaitCode::is_here());
}

}  // namespace
}  // namespace kube::test
