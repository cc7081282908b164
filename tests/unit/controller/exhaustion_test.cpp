// SPDX-License-Identifier: Apache-2.0
// Elections and events when memory or threads are exhausted, at any point.
#include <kube/controller/event_recorder.hpp>
#include <kube/controller/leader_elector.hpp>

#include "engine/runtime_access.hpp"
#include "memory_lock.hpp"
#include "recording_sink.hpp"
#include "support/failing_memory.hpp"
#include "support/failing_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace kube {
namespace {

using namespace std::chrono_literals;
using testing_support::ExemptFromFaults;
using testing_support::MemoryFaultAnywhere;
using testing_support::ThreadFault;

/// A candidate that leads for a moment each time it is run.
struct ElectionExhaustion : testing::Test {
  ElectionExhaustion() {
    options.lease_duration = 10s;
    options.renew_deadline = 5s;
    options.retry_period = 1ms;
    options.release_on_cancel = true;
    options.on_started_leading = [this](const std::stop_token&) {
      led = true;
      stop.request_stop();
    };
    options.on_stopped_leading = [this] { ++ended; };
    options.on_new_leader = [](const std::string&) {};
  }
  void run(LeaderElector& elector) {
    {
      const ExemptFromFaults exempt;
      stop = std::stop_source{};
    }
    led = false;
    elector.run(stop.get_token());
  }

  MemoryLease lease;
  std::shared_ptr<MemoryLock> lock = std::make_shared<MemoryLock>(lease, "me");
  LeaderElectionOptions options;
  std::stop_source stop;
  std::atomic<bool> led = false;
  int ended = 0;
};

TEST_F(ElectionExhaustion, OfMemoryEndsTheRunOrIsOvercome) {
  LeaderElector elector{lock, options};
  bool happened = true;
  int runs = 0;
  for (std::uint64_t number = 1; happened; ++number) {
    {
      const MemoryFaultAnywhere fault{number};
      try {
        run(elector);
        EXPECT_TRUE(led) << number;
      } catch (const std::exception& error) {
        EXPECT_NE(std::string_view{error.what()}, "");
      }
      happened = fault.happened();
    }
    EXPECT_EQ(ended, ++runs) << number;
    EXPECT_FALSE(elector.is_leader()) << number;
  }
  EXPECT_NO_THROW(run(elector));
  EXPECT_TRUE(led);
}

// RT-5: without a thread for the loop, the lock or the work.
TEST_F(ElectionExhaustion, OfThreadsEndsTheRunAndReleasesTheLease) {
  options.on_new_leader = nullptr;
  LeaderElector elector{lock, options};
  const auto fails = [&](const char* what) {
    const int before = ended;
    EXPECT_THROW(run(elector), std::system_error) << what;
    EXPECT_FALSE(led) << what;
    EXPECT_EQ(ended, before + 1) << what;
    EXPECT_EQ(lease.get().value_or(LeaderElectionRecord{}).holder_identity, "") << what;
  };
  {
    const ThreadFault fault{1};
    fails("loop");
  }
  {
    const auto loop = detail::lease_runtime();
    const ThreadFault fault{1};
    fails("lock");
  }
  std::optional<ThreadFault> fault;
  lock->set_faults([&](std::string_view method, const LockCall&) {
    if (method == "create") fault.emplace(1);
    return MemoryLock::Fault::kNone;
  });
  fails("work");
  fault.reset();
  lock->set_faults(nullptr);

  EXPECT_NO_THROW(run(elector));
  EXPECT_TRUE(led);
}

TEST(EventExhaustion, OfMemoryLosesAtMostTheEventAtHand) {
  const core::v1::ObjectReference object{.kind = "Pod", .namespace_ = "default", .name = "web"};
  bool happened = true;
  for (std::uint64_t number = 1; happened; ++number) {
    const auto sink = std::make_shared<RecordingSink<core::v1::Event>>();
    EventRecorder recorder{sink, {.component = "test"}};
    {
      const MemoryFaultAnywhere fault{number};
      try {
        recorder.record(object, "Normal", "First", "one");
      } catch (const std::bad_alloc&) {
      }
      const ExemptFromFaults exempt;
      EXPECT_TRUE(recorder.flush(10s)) << number;
      happened = fault.happened();
    }
    recorder.record(object, "Normal", "Second", "two");
    EXPECT_TRUE(recorder.flush(10s)) << number;
    ASSERT_FALSE(sink->calls().empty()) << number;
    EXPECT_EQ(sink->calls().back().event.reason, "Second") << number;
  }
}

}  // namespace
}  // namespace kube
