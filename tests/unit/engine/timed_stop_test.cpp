// SPDX-License-Identifier: Apache-2.0
#include "engine/timed_stop.hpp"
#include <kube/testkit/fake_clock.hpp>

#include "helpers.hpp"

namespace kube::test {
namespace {

using detail::TimedStop;
using testkit::FakeClock;

class TimedStopTest : public ThreadsEnd {
 protected:
  FakeClock clock;
  std::stop_source outer;
};

// LO-1: no thread waits for the time. A worker requests the stop, which may call user code.
TEST_F(TimedStopTest, StopsWhenTheTimeHasCome) {
  Runtime runtime{{.threads = 1}};
  const TimedStop timed{scheduler_of(runtime), clock, clock.now() + 30s, outer.get_token()};
  Counter called;
  bool on_worker = false;
  const std::stop_callback callback{timed.token(), [&] {
                                      on_worker = scheduler_of(runtime)->workers().is_here();
                                      called.add();
                                    }};
  EXPECT_EQ(runtime.threads(), 1U) << "that of the loop";
  EXPECT_EQ(clock.next_deadline(), clock.now() + 30s);

  clock.advance(30s - 1ns);
  EXPECT_FALSE(timed.passed());
  clock.advance(1ns);
  ASSERT_TRUE(called.reaches(1));
  EXPECT_TRUE(on_worker);
  EXPECT_TRUE(timed.passed());
  EXPECT_FALSE(outer.stop_requested());
}

TEST_F(TimedStopTest, StopsWithTheOuterToken) {
  Runtime runtime{{.threads = 1}};
  {
    const TimedStop timed{scheduler_of(runtime), clock, clock.now() + 30s, outer.get_token()};
    outer.request_stop();
    EXPECT_TRUE(timed.token().stop_requested());
    EXPECT_FALSE(timed.passed());
  }
  EXPECT_EQ(clock.sleepers(), 0U) << "the clock may go";
}

TEST_F(TimedStopTest, HasNoDeadlineIfThatIsWanted) {
  Runtime runtime{{.threads = 1}};
  const TimedStop timed{scheduler_of(runtime), clock, Clock::TimePoint::max(), outer.get_token()};
  EXPECT_EQ(clock.sleepers(), 0U);
  EXPECT_FALSE(timed.passed());
  outer.request_stop();
  EXPECT_TRUE(timed.token().stop_requested());
}

// RT-6
TEST_F(TimedStopTest, NeedsNoThread) {
  const std::size_t before = thread_count();
  Runtime runtime{{.threads = 0}};
  const TimedStop timed{scheduler_of(runtime), clock, clock.now() + 30s, {}};
  clock.advance(30s);
  while (runtime.loop().run_ready()) {
  }
  EXPECT_TRUE(timed.token().stop_requested());
  EXPECT_LE(thread_count(), before);
}

// RT-4: the time comes also while all workers are blocked.
TEST_F(TimedStopTest, StopsWhileAllWorkersAreBlocked) {
  Gate gate;
  Counter inside;
  Runtime runtime{{.threads = 1, .max_threads = 1, .log = {}}};
  const auto job = make_job(runtime, Placement::kBlocking, [&] {
    inside.add();
    gate.pass();
  });
  job->schedule();
  ASSERT_TRUE(inside.reaches(1));
  const TimedStop timed{scheduler_of(runtime), clock, clock.now() + 30s, {}};
  clock.advance(30s);
  EXPECT_TRUE(becomes_true([&] { return timed.token().stop_requested(); }));
  gate.open();
}

}  // namespace
}  // namespace kube::test
