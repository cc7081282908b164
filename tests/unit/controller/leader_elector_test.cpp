// SPDX-License-Identifier: Apache-2.0
#include <kube/base/condition.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/transport/error.hpp>

#include "memory_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kDeadline = 10s;

/// One candidate with a clock of its own, and a record of its callbacks.
class LeaderElectorTest : public ::testing::Test {
 protected:
  LeaderElectorTest() {
    options_.clock = &clock_;
    options_.random = [] { return 0.0; };
    options_.on_started_leading = [this](std::stop_token stop) {
      leading_ = true;
      note("started");
      std::mutex mutex;
      Condition never;
      std::unique_lock lock{mutex};
      never.wait(lock, stop, [] { return false; });
      leading_ = false;
      note("work ended");
    };
    options_.on_stopped_leading = [this] { note("stopped"); };
    options_.on_new_leader = [this](const std::string& leader) { note("leader " + leader); };
  }
  ~LeaderElectorTest() override { stop(); }

  void start() {
    elector_ = std::make_unique<LeaderElector>(lock_, options_);
    run_ = std::async(std::launch::async, [this] { elector_->run(stop_.get_token()); });
  }
  void stop() {
    stop_.request_stop();
    finish();
  }
  void finish() {
    if (!run_.valid()) return;
    ASSERT_EQ(run_.wait_for(kDeadline), std::future_status::ready);
    run_.get();
  }
  /// Lets the candidate run until it waits again; then advances its clock by `by`.
  void pass(Clock::Duration by) {
    ASSERT_TRUE(clock_.wait_for_sleepers(1));
    clock_.advance(by);
    ASSERT_TRUE(clock_.wait_for_sleepers(1));
  }
  void wait_until(const std::function<bool()>& condition) {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    ASSERT_TRUE(condition());
  }
  void note(std::string what) {
    const std::lock_guard guard{mutex_};
    notes_.push_back(std::move(what));
  }
  bool noted(const std::string& what) {
    const std::lock_guard guard{mutex_};
    return std::ranges::find(notes_, what) != notes_.end();
  }
  std::vector<std::string> notes() {
    const std::lock_guard guard{mutex_};
    return notes_;
  }
  LeaderElectionRecord held_by(std::string holder) {
    const MicroTime now = clock_.wall_now();
    return {.holder_identity = std::move(holder),
            .lease_duration_seconds = 15,
            .acquire_time = now,
            .renew_time = now,
            .leader_transitions = 4};
  }

  testkit::FakeClock clock_;
  MemoryLease lease_;
  std::shared_ptr<MemoryLock> lock_ = std::make_shared<MemoryLock>(lease_, "me");
  LeaderElectionOptions options_;
  std::unique_ptr<LeaderElector> elector_;
  std::stop_source stop_;
  std::future<void> run_;
  std::atomic<bool> leading_ = false;
  std::mutex mutex_;
  std::vector<std::string> notes_;  // guarded by mutex_
};

// LE-2
TEST_F(LeaderElectorTest, HasTheDefaultsOfCoreComponents) {
  EXPECT_EQ(options_.lease_duration, 15s);
  EXPECT_EQ(options_.renew_deadline, 10s);
  EXPECT_EQ(options_.retry_period, 2s);
  EXPECT_FALSE(options_.release_on_cancel);
}

// LE-2
TEST_F(LeaderElectorTest, RefusesOptionsThatCannotWork) {
  const auto refuses = [&](const std::function<void(LeaderElectionOptions&)>& change) {
    LeaderElectionOptions options = options_;
    change(options);
    EXPECT_THROW((LeaderElector{lock_, options}), std::invalid_argument);
  };
  refuses([](auto& options) { options.lease_duration = options.renew_deadline; });
  refuses([](auto& options) { options.renew_deadline = 2400ms; });
  refuses([](auto& options) { options.retry_period = 0ns; });
  refuses([](auto& options) { options.retry_period = -1s; });
  refuses([](auto& options) { options.on_started_leading = nullptr; });
  refuses([](auto& options) { options.on_stopped_leading = nullptr; });
  EXPECT_THROW((LeaderElector{nullptr, options_}), std::invalid_argument);
  EXPECT_THROW((LeaderElector{std::make_shared<MemoryLock>(lease_, ""), options_}),
               std::invalid_argument);
  options_.renew_deadline = 2401ms;
  EXPECT_NO_THROW((LeaderElector{lock_, options_}));
}

// LE-4 (b), LE-9, LE-10, LE-11
TEST_F(LeaderElectorTest, CreatesTheLeaseIfThereIsNone) {
  const MicroTime now = clock_.wall_now();
  start();
  wait_until([&] { return leading_.load() && noted("leader me"); });
  EXPECT_TRUE(elector_->is_leader());
  EXPECT_EQ(elector_->leader(), "me");
  EXPECT_EQ(lease_.get(), (LeaderElectionRecord{.holder_identity = "me",
                                                .lease_duration_seconds = 15,
                                                .acquire_time = now,
                                                .renew_time = now,
                                                .leader_transitions = 0}));
  stop();
  EXPECT_FALSE(elector_->is_leader());
  EXPECT_THAT(lock_->calls(), ElementsAre("get", "create"));
  EXPECT_THAT(lock_->events(), ElementsAre("me became leader", "me stopped leading"));
  EXPECT_EQ(notes().back(), "stopped");
}

// LE-4 (a), LE-7
TEST_F(LeaderElectorTest, RenewsEveryRetryPeriodWithoutReading) {
  const MicroTime acquired = clock_.wall_now();
  start();
  for (int i = 0; i < 3; ++i) pass(2s);
  EXPECT_THAT(lock_->calls(), ElementsAre("get", "create", "update", "update", "update"));
  const auto record = lease_.get();
  EXPECT_EQ(record->acquire_time, acquired);
  EXPECT_EQ(record->renew_time, MicroTime{clock_.wall_now()});
  EXPECT_EQ(record->leader_transitions, 0);
}

// LE-4 (a): a failed renewal is repeated once after reading, in the same try.
TEST_F(LeaderElectorTest, ReadsTheLeaseWhenARenewalFails) {
  options_.name = "election";
  options_.metrics = std::make_shared<Metrics>();
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  auto changed = *lease_.get();
  lease_.set(changed);  // a new version, so that ours is outdated
  pass(2s);
  EXPECT_THAT(lock_->calls(), ElementsAre("get", "create", "update", "get", "update"));
  EXPECT_TRUE(elector_->is_leader());
  // LE-14
  EXPECT_THAT(options_.metrics->text(),
              HasSubstr("leader_election_slowpath_total{name=\"election\"} 1"));
  EXPECT_THAT(options_.metrics->text(),
              HasSubstr("leader_election_master_status{name=\"election\"} 1"));
  stop();
  EXPECT_THAT(options_.metrics->text(),
              HasSubstr("leader_election_master_status{name=\"election\"} 0"));
}

// LE-3
TEST_F(LeaderElectorTest, TriesAgainAfterTheRetryPeriodAndAPartOfIt) {
  std::atomic<double> random = 0;
  options_.random = [&] { return random.load(); };
  lease_.set(held_by("other"));
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 2s);
  random = 0.5;
  pass(2s);
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 3200ms);
  random = 1;  // the limit, never reached: 120 %
  pass(3200ms);
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 4400ms);
}

// LE-3: counted from the end of the try.
TEST_F(LeaderElectorTest, CountsTheRetryPeriodFromTheEndOfTheTry) {
  lock_->set_faults([&](std::string_view, const LockCall& call) {
    (void)clock_.sleep_for(3s, call.stop);
    return MemoryLock::Fault::kBefore;
  });
  start();
  pass(3s);
  EXPECT_EQ(clock_.next_deadline(), clock_.now() + 2s);
}

// LE-4 (d), LE-5, LE-6: the times in the Lease are irrelevant; only the time observed without a
// change counts.
TEST_F(LeaderElectorTest, TakesOverALeaseUnchangedForItsDuration) {
  LeaderElectionRecord stale = held_by("other");
  stale.renew_time = stale.acquire_time = MicroTime::parse("2001-01-01T00:00:00Z");
  lease_.set(stale);
  start();
  for (int i = 0; i < 7; ++i) pass(2s);  // 14 s
  EXPECT_FALSE(elector_->is_leader());
  EXPECT_EQ(elector_->leader(), "other");
  EXPECT_EQ(lease_.writes(), 1U);
  clock_.advance(2s);
  wait_until([&] { return leading_.load(); });
  // LE-4 (e)
  const auto record = lease_.get();
  EXPECT_EQ(record->holder_identity, "me");
  EXPECT_EQ(record->leader_transitions, 5);
  EXPECT_EQ(record->acquire_time, MicroTime{clock_.wall_now()});
  EXPECT_EQ(record->renew_time, MicroTime{clock_.wall_now()});
}

// LE-4 (c), LE-5
TEST_F(LeaderElectorTest, RestartsItsWaitWheneverTheLeaseChanges) {
  LeaderElectionRecord record = held_by("other");
  lease_.set(record);
  start();
  for (int i = 0; i < 20; ++i) {
    pass(2s);
    if (i % 6 == 5) {
      record.lease_duration_seconds ^= 1;  // any change suffices: 15, 14, 15...
      lease_.set(record);
    }
  }
  EXPECT_FALSE(elector_->is_leader());
  EXPECT_EQ(lease_.writes(), 4U);
}

// LE-6
TEST_F(LeaderElectorTest, AcquiresAFreeLeaseImmediately) {
  LeaderElectionRecord released = held_by("");
  released.lease_duration_seconds = 1;
  lease_.set(released);
  start();
  wait_until([&] { return leading_.load(); });
  EXPECT_EQ(lease_.get()->leader_transitions, 5);
}

// LE-4 (e): a process that restarts with its old identity continues its term.
TEST_F(LeaderElectorTest, ContinuesItsOwnTerm) {
  LeaderElectionRecord mine = held_by("me");
  lease_.set(mine);
  clock_.advance(1s);
  start();
  wait_until([&] { return leading_.load(); });
  EXPECT_EQ(lease_.get()->acquire_time, mine.acquire_time);
  EXPECT_EQ(lease_.get()->leader_transitions, 4);
  EXPECT_NE(lease_.get()->renew_time, mine.renew_time);
}

// LE-4: any write error fails the try.
TEST_F(LeaderElectorTest, FailsATryOnAConflict) {
  lease_.set(held_by(""));
  lock_->set_faults([&](std::string_view method, const LockCall&) {
    if (method == "update") lease_.set(held_by("faster"));
    return MemoryLock::Fault::kNone;
  });
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_FALSE(elector_->is_leader());
  pass(2s);
  EXPECT_EQ(elector_->leader(), "faster");
}

// LE-4: two candidates find no Lease; the second to create it loses.
TEST_F(LeaderElectorTest, FailsATryWhenSomebodyElseCreatesTheLease) {
  lock_->set_faults([&](std::string_view method, const LockCall&) {
    if (method == "create") lease_.set(held_by("faster"));
    return MemoryLock::Fault::kNone;
  });
  start();
  pass(2s);
  EXPECT_EQ(elector_->leader(), "faster");
  EXPECT_FALSE(leading_);
}

// LE-7, LE-9, LE-10
TEST_F(LeaderElectorTest, GivesUpWhenItCannotRenewUntilTheDeadline) {
  start();
  wait_until([&] { return leading_.load(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  lock_->set_faults([](std::string_view, const LockCall&) { return MemoryLock::Fault::kBefore; });
  for (int i = 0; i < 5; ++i) pass(2s);  // the first failure at 2 s, the deadline 10 s later
  EXPECT_TRUE(leading_);
  clock_.advance(2s);
  finish();
  EXPECT_FALSE(leading_);
  EXPECT_FALSE(elector_->is_leader());
  auto all = notes();
  std::erase(all, "leader me");  // called by another thread
  EXPECT_THAT(all, ElementsAre("started", "work ended", "stopped"));
  EXPECT_EQ(lease_.writes(), 1U);  // not released
}

// LE-7
TEST_F(LeaderElectorTest, GoesOnWhenATrySucceedsBeforeTheDeadline) {
  start();
  wait_until([&] { return leading_.load(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  lock_->set_faults([](std::string_view, const LockCall&) { return MemoryLock::Fault::kBefore; });
  for (int i = 0; i < 4; ++i) pass(2s);
  lock_->set_faults(nullptr);
  for (int i = 0; i < 20; ++i) pass(2s);
  EXPECT_TRUE(leading_);
}

// Stricter than LE-7: a candidate that observes another leader does not wait for the deadline.
TEST_F(LeaderElectorTest, GivesUpAtOnceWhenSomebodyElseHoldsTheLease) {
  start();
  wait_until([&] { return leading_.load(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  lease_.set(held_by("usurper"));
  clock_.advance(2s);
  finish();
  EXPECT_FALSE(leading_);
  EXPECT_EQ(elector_->leader(), "usurper");
  EXPECT_EQ(lease_.get()->holder_identity, "usurper");
}

// LE-7, LE-13: the write was early, its response late; other candidates count from the write.
TEST_F(LeaderElectorTest, GivesUpBeforeOthersMayTakeOverThoughAnswersAreSlow) {
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  std::atomic<Clock::TimePoint> written{};
  lock_->set_faults([&](std::string_view method, const LockCall& call) {
    if (method == "update" && written.load() == Clock::TimePoint{}) {
      written = clock_.now();
      (void)clock_.sleep_for(4s, call.stop);
      return MemoryLock::Fault::kNone;
    }
    return MemoryLock::Fault::kBefore;
  });
  while (run_.wait_for(0s) != std::future_status::ready) {
    const auto next = clock_.next_deadline();
    if (next != Clock::TimePoint::max()) clock_.advance(next - clock_.now());
  }
  finish();
  EXPECT_EQ(clock_.now(), written.load() + 12s);
}

// LE-5, LE-10: after a suspend the machine's clock is far ahead.
TEST_F(LeaderElectorTest, GivesUpWithoutAnotherTryAfterASuspend) {
  EXPECT_EQ(LeaderElectionOptions{}.clock, &boot_clock());
  start();
  wait_until([&] { return leading_.load(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_TRUE(elector_->is_leader());
  std::atomic<int> calls = 0;
  lock_->set_faults([&](std::string_view, const LockCall&) {
    ++calls;
    return MemoryLock::Fault::kNone;
  });

  clock_.advance(1h);
  const bool leads_after_suspend = elector_->is_leader();
  finish();

  EXPECT_FALSE(leads_after_suspend);
  EXPECT_FALSE(leading_);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(noted("stopped"));
}

TEST_F(LeaderElectorTest, ContinuesWhenALockOrACallbackThrowsANonException) {
  options_.on_new_leader = [this](const std::string& leader) {
    note("leader " + leader);
    throw 42;  // NOLINT: what a user may do
  };
  std::atomic<int> failures = 2;
  lock_->set_faults([&](std::string_view, const LockCall&) -> MemoryLock::Fault {
    if (failures-- > 0) throw 42;  // NOLINT
    return MemoryLock::Fault::kNone;
  });
  start();
  pass(2s);
  clock_.advance(2s);
  wait_until([&] { return leading_.load(); });
  wait_until([&] { return noted("leader me"); });
  pass(2s);
  EXPECT_TRUE(elector_->is_leader());
}

// A requested stop must not log a warning.
TEST_F(LeaderElectorTest, LogsNoWarningForACallThatTheStopCancels) {
  options_.log =
      Logger{[this](LogLevel, std::string_view, std::string_view line) { note(std::string{line}); },
             LogLevel::kWarning};
  std::atomic<bool> asked = false;
  lock_->set_faults([&](std::string_view, const LockCall& call) -> MemoryLock::Fault {
    asked = true;
    std::mutex mutex;
    Condition never;
    std::unique_lock lock{mutex};
    never.wait(lock, call.stop, [] { return false; });
    throw TransportError{TransportError::Kind::kCanceled, "canceled"};
  });
  start();
  wait_until([&] { return asked.load(); });
  stop();
  EXPECT_THAT(notes(), ElementsAre("stopped"));
}

// LE-13
TEST_F(LeaderElectorTest, LimitsTheTimeOfEachCall) {
  EXPECT_EQ(election_request_timeout(10s), 5s);
  EXPECT_EQ(election_request_timeout(1500ms), 1s);
  lease_.set(held_by("other"));
  std::atomic<Clock::Duration> allowed{};
  lock_->set_faults([&](std::string_view, const LockCall& call) {
    allowed = call.timeout;
    return MemoryLock::Fault::kNone;
  });
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  EXPECT_EQ(allowed.load(), 5s);
}

// LE-8
TEST_F(LeaderElectorTest, ReleasesTheLeaseIfAskedTo) {
  options_.release_on_cancel = true;
  LeaderElectionRecord before = held_by("");
  lease_.set(before);
  start();
  wait_until([&] { return leading_.load(); });
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  clock_.advance(1s);
  int conflicts = 2;
  lock_->set_faults([&](std::string_view method, const LockCall&) {
    if (method == "update" && conflicts-- > 0) lease_.set(*lease_.get());
    return MemoryLock::Fault::kNone;
  });
  const MicroTime now = clock_.wall_now();
  stop_.request_stop();
  while (run_.wait_for(0s) != std::future_status::ready) {
    if (clock_.next_deadline() - clock_.now() <= 11ms)
      clock_.advance(11ms);  // between two conflicts
  }
  finish();
  const auto record = lease_.get();
  EXPECT_EQ(record->holder_identity, "");
  EXPECT_EQ(record->lease_duration_seconds, 1);
  EXPECT_GE(record->renew_time, now);
  EXPECT_EQ(record->acquire_time, record->renew_time);
  EXPECT_EQ(record->leader_transitions, 5);
  // LE-9: after the release
  EXPECT_EQ(notes().back(), "stopped");
}

// LE-8
TEST_F(LeaderElectorTest, DoesNotReleaseWhatItDoesNotHold) {
  options_.release_on_cancel = true;
  lease_.set(held_by("other"));
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  stop();
  EXPECT_EQ(lease_.get()->holder_identity, "other");
  EXPECT_EQ(lease_.writes(), 1U);
  EXPECT_EQ(notes().back(), "stopped");  // LE-9: even if it never led
}

// LE-8: the whole step is bounded.
TEST_F(LeaderElectorTest, GivesUpAReleaseThatFails) {
  options_.release_on_cancel = true;
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  lock_->set_faults([&](std::string_view method, const LockCall&) {
    if (method == "update") lease_.set(*lease_.get());  // causes a conflict each time
    return MemoryLock::Fault::kNone;
  });
  const auto before = clock_.now();
  stop_.request_stop();
  while (run_.wait_for(0s) != std::future_status::ready) {
    if (clock_.next_deadline() - clock_.now() <= 11ms)
      clock_.advance(500ms);  // between two conflicts
  }
  finish();
  EXPECT_LE(clock_.now() - before, 11s);
}

// LE-9
TEST_F(LeaderElectorTest, ReportsEachNewLeader) {
  lease_.set(held_by("a"));
  start();
  wait_until([&] { return noted("leader a"); });
  lease_.set(held_by("b"));
  pass(2s);
  wait_until([&] { return noted("leader b"); });
  for (int i = 0; i < 8; ++i) pass(2s);
  wait_until([&] { return noted("leader me"); });
}

// LE-9: a callback that hangs does not delay renewals.
TEST_F(LeaderElectorTest, DoesNotWaitForCallbacks) {
  std::promise<void> release;
  options_.on_new_leader = [&, wait = release.get_future().share()](const std::string&) {
    wait.wait();
  };
  start();
  for (int i = 0; i < 3; ++i) pass(2s);
  EXPECT_EQ(lease_.writes(), 4U);
  release.set_value();
}

// After a stop the lease is held until the work has stopped (CF-40).
TEST_F(LeaderElectorTest, RenewsUntilTheWorkHasReturned) {
  std::promise<void> release;
  std::atomic<bool> asked = false;
  options_.release_on_cancel = true;
  options_.on_started_leading = [&, wait = release.get_future().share()](std::stop_token stop) {
    const std::stop_callback on_stop{stop, [&] { asked = true; }};
    wait.wait();
  };
  start();
  pass(2s);
  stop_.request_stop();
  wait_until([&] { return asked.load(); });
  for (int i = 0; i < 20; ++i) pass(2s);
  EXPECT_EQ(lease_.get()->holder_identity, "me");
  EXPECT_EQ(lease_.get()->renew_time, MicroTime{clock_.wall_now()});
  release.set_value();
  finish();
  EXPECT_EQ(lease_.get()->holder_identity, "");
}

TEST_F(LeaderElectorTest, PropagatesTheExceptionOfTheWork) {
  options_.release_on_cancel = true;
  options_.on_started_leading = [](std::stop_token) { throw std::runtime_error{"no disk"}; };
  LeaderElector elector{lock_, options_};
  EXPECT_THROW(elector.run({}), std::runtime_error);
  EXPECT_EQ(lease_.get()->holder_identity, "");
  EXPECT_TRUE(noted("stopped"));
}

TEST_F(LeaderElectorTest, RunsOnceAtATimeAndAgainAfterwards) {
  start();
  wait_until([&] { return leading_.load(); });
  EXPECT_THROW(elector_->run({}), std::logic_error);
  stop();
  std::stop_source second;
  run_ = std::async(std::launch::async, [&] { elector_->run(second.get_token()); });
  wait_until([&] { return leading_.load(); });
  second.request_stop();
  finish();
}

// LE-12
TEST_F(LeaderElectorTest, IsUnhealthyWhenItLeadsAndCouldNotRenew) {
  EXPECT_EQ(LeaderElector::kHealthCheckName, "leaderElection");
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  std::promise<void> release;
  std::atomic<bool> called = false;
  lock_->set_faults([&, wait = release.get_future().share()](std::string_view, const LockCall&) {
    called = true;
    wait.wait();  // a call that hangs, though it has a deadline
    return MemoryLock::Fault::kBefore;
  });
  clock_.advance(2s);
  wait_until([&] { return called.load(); });
  clock_.advance(13s + 5s);
  EXPECT_EQ(elector_->health_problem(5s), std::nullopt);
  clock_.advance(1ns);
  EXPECT_NE(elector_->health_problem(5s), std::nullopt);
  release.set_value();
  finish();
  EXPECT_EQ(elector_->health_problem(5s), std::nullopt);
}

// LE-12
TEST_F(LeaderElectorTest, IsHealthyWhenItDoesNotLead) {
  lease_.set(held_by("other"));
  start();
  ASSERT_TRUE(clock_.wait_for_sleepers(1));
  lock_->set_faults([](std::string_view, const LockCall&) { return MemoryLock::Fault::kBefore; });
  for (int i = 0; i < 30; ++i) pass(2s);
  EXPECT_EQ(elector_->health_problem(0s), std::nullopt);
}

// LE-15
TEST_F(LeaderElectorTest, LetsTheServerChooseTheLeaderInCoordinatedMode) {
  options_.coordinated = true;
  start();
  for (int i = 0; i < 3; ++i) pass(2s);
  EXPECT_EQ(lease_.writes(), 0U);  // never creates
  lease_.set(held_by("other"));
  for (int i = 0; i < 20; ++i) pass(2s);
  EXPECT_EQ(lease_.writes(), 1U);  // never steals
  LeaderElectionRecord chosen = held_by("me");
  chosen.strategy = "OldestEmulationVersion";
  lease_.set(chosen);
  clock_.advance(2s);
  wait_until([&] { return leading_.load(); });
  EXPECT_EQ(lease_.get()->strategy, "OldestEmulationVersion");
  EXPECT_EQ(lease_.get()->leader_transitions, 4);
  pass(2s);
  EXPECT_EQ(lease_.writes(), 4U);

  auto leave = *lease_.get();
  leave.preferred_holder = "better";
  lease_.set(leave);
  clock_.advance(2s);
  finish();
  EXPECT_FALSE(leading_);
  EXPECT_EQ(lease_.writes(), 5U);  // and stops renewing
}

}  // namespace
}  // namespace kube
