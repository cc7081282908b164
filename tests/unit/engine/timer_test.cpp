// SPDX-License-Identifier: Apache-2.0
#include "engine/timer.hpp"
#include <kube/testkit/fake_clock.hpp>

#include <algorithm>
#include <deque>
#include <random>
#include <thread>

#include "helpers.hpp"

namespace kube::test {
namespace {

using detail::Timer;
using testkit::FakeClock;

/// A job with a timer.
class Alarm final : public detail::Job {
 public:
  Alarm(const std::shared_ptr<Scheduler>& scheduler, Clock& clock, std::function<void()> ring)
      : Job(Placement::kLoop), timer(scheduler, clock), ring_(std::move(ring)) {
    bind(scheduler);
  }
  void set(Clock::TimePoint when) { timer.set(when, weak_from_this()); }

  Timer timer;

 private:
  void run() noexcept override { ring_(); }

  const std::function<void()> ring_;
};

/// The loop keeps a job for a moment after it has run, and with it the job's timer, which needs its
/// clock.
[[nodiscard]] bool is_released(const std::shared_ptr<Alarm>& alarm) {
  return becomes_true([&] { return alarm.use_count() == 1; });
}

class TimerTest : public testing::Test {
 protected:
  std::shared_ptr<Alarm> make_alarm(Clock& with, std::function<void()> ring) {
    return std::make_shared<Alarm>(scheduler_of(runtime), with, std::move(ring));
  }

  FakeClock clock;
  Runtime runtime{{.threads = 1}};
};

// LO-7
TEST_F(TimerTest, FiresInTheOrderOfDeadlines) {
  std::vector<int> order;
  Counter fired;
  std::vector<std::shared_ptr<Alarm>> alarms;
  std::vector<int> numbers;
  for (int i = 0; i < 200; ++i) numbers.push_back(i);
  std::ranges::shuffle(numbers, std::mt19937{7});
  for (const int number : numbers) {
    alarms.push_back(make_alarm(clock, [&order, &fired, number] {
      order.push_back(number);
      fired.add();
    }));
    alarms.back()->set(clock.now() + number * 1s + 1s);
  }
  clock.advance(1h);

  ASSERT_TRUE(fired.reaches(200));
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

// LO-7: never early.
TEST_F(TimerTest, NeverFiresEarly) {
  Counter fired;
  std::vector<std::shared_ptr<Alarm>> alarms;
  std::mt19937 random{3};
  for (int i = 0; i < 100; ++i) {
    const auto when = system_clock().now() + std::chrono::microseconds{random() % 20'000};
    alarms.push_back(make_alarm(system_clock(), [&fired, when] {
      EXPECT_GE(std::chrono::steady_clock::now(), when);
      fired.add();
    }));
    alarms.back()->set(when);
  }
  EXPECT_TRUE(fired.reaches(100));
}

// LO-7: cancel() returns whether it was in time.
TEST_F(TimerTest, CanBeCancelledUntilItFires) {
  Counter fired;
  const auto alarm = make_alarm(clock, [&] { fired.add(); });
  EXPECT_FALSE(alarm->timer.cancel());
  alarm->set(clock.now() + 1s);
  EXPECT_TRUE(alarm->timer.cancel());
  EXPECT_FALSE(alarm->timer.cancel());
  clock.advance(1h);
  alarm->set(clock.now() + 1s);
  clock.advance(1s);
  ASSERT_TRUE(fired.reaches(1));

  EXPECT_FALSE(alarm->timer.cancel());
  EXPECT_EQ(fired.value(), 1);
}

TEST_F(TimerTest, HasOneDeadlineAtATime) {
  Counter fired;
  const auto alarm = make_alarm(clock, [&] { fired.add(); });
  alarm->set(clock.now() + 1s);
  alarm->set(clock.now() + 10s);
  EXPECT_EQ(clock.next_deadline(), clock.now() + 10s);
  clock.advance(9s);
  EXPECT_EQ(clock.sleepers(), 1U);
  clock.advance(1s);
  EXPECT_TRUE(fired.reaches(1));

  alarm->set(clock.now() + 1s);
  alarm->set(Clock::TimePoint::max());
  EXPECT_EQ(clock.sleepers(), 0U);
}

TEST_F(TimerTest, FiresAtOnceIfItsTimeIsOver) {
  Counter fired;
  const auto fake = make_alarm(clock, [&] { fired.add(); });
  const auto real = make_alarm(system_clock(), [&] { fired.add(); });
  fake->set(clock.now());
  real->set(system_clock().now() - 1h);
  EXPECT_TRUE(fired.reaches(2));
}

TEST_F(TimerTest, EndsALongerWait) {
  Counter fired;
  const auto late = make_alarm(system_clock(), [&] { fired.add(100); });
  const auto early = make_alarm(system_clock(), [&] { fired.add(); });
  for (int i = 1; i <= 200; ++i) {
    late->set(system_clock().now() + 1h);
    early->set(system_clock().now() + std::chrono::microseconds{i % 7 * 300});
    ASSERT_TRUE(fired.reaches(i));
  }
}

TEST_F(TimerTest, DoesNothingForADestroyedJob) {
  Counter fired;
  Timer timer{scheduler_of(runtime), clock};
  {
    const auto job = make_job(runtime, Placement::kLoop, [&] { fired.add(); });
    timer.set(clock.now() + 1s, job);
  }
  make_alarm(clock, [&] { fired.add(); })->set(clock.now() + 1s);
  const auto other = make_alarm(clock, [&] { fired.add(10); });
  other->set(clock.now() + 2s);
  clock.advance(2s);

  EXPECT_TRUE(fired.reaches(10));
  EXPECT_EQ(fired.value(), 10);
}

// LO-7: timers need no descriptors.
TEST_F(TimerTest, CostsNoDescriptor) {
  constexpr int kMany = 200'000;
  const std::size_t descriptors = descriptor_count();
  Counter fired;
  const auto job = make_job(runtime, Placement::kLoop, [&] { fired.add(); });
  std::deque<Timer> timers;
  for (int i = 0; i < kMany; ++i) {
    timers.emplace_back(scheduler_of(runtime), system_clock())
        .set(system_clock().now() + 1h + i * 1us, job);
  }
  for (int i = 0; i < kMany; i += 2) EXPECT_TRUE(timers[static_cast<std::size_t>(i)].cancel());
  timers[1].set(system_clock().now(), job);

  EXPECT_TRUE(fired.reaches(1));
  EXPECT_EQ(descriptor_count(), descriptors);
}

// LO-14: timers of two clocks; only those of the fake clock count as its sleepers.
TEST_F(TimerTest, GoesByItsOwnClock) {
  FakeClock other;
  Counter fired;
  const auto a = make_alarm(clock, [&] { fired.add(1); });
  const auto b = make_alarm(other, [&] { fired.add(10); });
  const auto c = make_alarm(system_clock(), [&] { fired.add(100); });
  a->set(clock.now() + 1h);
  b->set(other.now() + 1h);
  c->set(system_clock().now() + 1ms);
  ASSERT_TRUE(fired.reaches(100));
  EXPECT_EQ(clock.sleepers(), 1U);
  EXPECT_EQ(other.sleepers(), 1U);
  other.advance(1h);
  ASSERT_TRUE(fired.reaches(110));
  EXPECT_EQ(clock.sleepers(), 1U);
  EXPECT_EQ(other.sleepers(), 0U);
  clock.advance(1h);

  EXPECT_TRUE(fired.reaches(111));
  EXPECT_TRUE(is_released(b));
}

// LO-14
TEST_F(TimerTest, MovesWithAdvanceUntil) {
  Counter fired;
  std::weak_ptr<Alarm> weak;
  const auto alarm = make_alarm(clock, [&] {
    fired.add();
    if (const auto self = weak.lock()) self->set(clock.now() + 30s);
  });
  weak = alarm;
  const auto start = clock.now();
  alarm->set(clock.now() + 30s);

  EXPECT_TRUE(clock.advance_until([&] { return fired.value() >= 20; }));
  EXPECT_GE(clock.now() - start, 600s);
  EXPECT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_TRUE(clock.wait_for_sleeper_until(clock.now() + 30s));
}

// A clock is destroyed after its timers, as in every test with a FakeClock, while the loop that
// used it continues. The loop used to ask such a clock for the time.
TEST_F(TimerTest, AllowsItsClockToBeDestroyedAfterIt) {
  Counter fired;
  for (int i = 1; i <= 500; ++i) {
    FakeClock short_lived;
    const auto alarm = make_alarm(short_lived, [&] { fired.add(); });
    alarm->set(short_lived.now() + 1s);
    if (i % 2 == 0) {
      short_lived.advance(1s);
      ASSERT_TRUE(fired.reaches(i / 2));
      ASSERT_TRUE(is_released(alarm));
    }
  }
}

/// A clock ten times as fast as the system's.
class QuickClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    return TimePoint{system_clock().now().time_since_epoch() * 10};
  }
  [[nodiscard]] WallTime wall_now() const override { return {}; }
  bool wait_until(std::unique_lock<std::mutex>&, Condition&, TimePoint, std::stop_token,
                  const std::function<bool()>&) override {
    return false;
  }
};

TEST_F(TimerTest, FollowsAClockThatIsFasterThanTheMachine) {
  QuickClock quick;
  Counter fired;
  const auto when = quick.now() + 3s;
  const auto alarm = make_alarm(quick, [&] {
    EXPECT_GE(quick.now(), when);
    fired.add();
  });
  alarm->set(when);
  EXPECT_TRUE(fired.reaches(1, 2s));
  EXPECT_TRUE(is_released(alarm));
}

// Timers that are due immediately, set repeatedly by a worker, do not starve the loop.
TEST_F(TimerTest, DoesNotStarveTheLoop) {
  std::atomic<bool> stop = false;
  std::weak_ptr<FunctionJob> weak;
  Counter ended;
  Timer timer{scheduler_of(runtime), system_clock()};
  const auto job = make_job(runtime, Placement::kLibrary, [&] {
    if (stop) return ended.add();
    timer.set(system_clock().now() - 1s, weak.lock());
  });
  weak = job;
  job->schedule();
  Counter posted;
  for (int i = 1; i <= 100; ++i) {
    runtime.loop().post([&] { posted.add(); });
    EXPECT_TRUE(posted.reaches(i));
  }
  stop = true;
  // The last run has to be over before what it uses goes.
  ASSERT_TRUE(ended.reaches(1));
  ASSERT_TRUE(becomes_true([&] { return job.use_count() == 1; }));
}

TEST_F(TimerTest, MayBeSetAndCancelledByAnyThreadWhileItFires) {
  Counter fired;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const auto alarm = make_alarm(i % 2 == 0 ? system_clock() : static_cast<Clock&>(clock),
                                      [&] { fired.add(); });
        for (int round = 0; round < 3'000; ++round) {
          alarm->set((i % 2 == 0 ? system_clock().now() : clock.now()) + 10us * (round % 5));
          if (round % 3 == 0) alarm->timer.cancel();
          if (i == 1) clock.advance(10us);
        }
      });
    }
  }
  const auto last = make_alarm(clock, [&] { fired.add(1'000'000); });
  last->set(clock.now());
  EXPECT_TRUE(fired.reaches(1'000'000));
}

}  // namespace
}  // namespace kube::test
