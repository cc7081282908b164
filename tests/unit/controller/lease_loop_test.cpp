// SPDX-License-Identifier: Apache-2.0
// Leases are renewed by a thread of their own, independent of all other work of the process.
#include <kube/api/core/v1.hpp>
#include <kube/controller/event_recorder.hpp>
#include <kube/controller/leader_elector.hpp>
#include <kube/controller/lease_lock.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/testkit/api_server.hpp>
#include <kube/testkit/fake_clock.hpp>
#include <kube/transport/transport.hpp>

#include "memory_lock.hpp"
#include "recording_sink.hpp"
#include "thread_names.hpp"
#include "unit/engine/helpers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using coordination::v1::Lease;
using test::becomes_true;
using test::Gate;
using test::Placement;
using test::thread_name;
using test::threads_named;

/// Records the names of threads that made a call.
class Callers {
 public:
  void note(const std::string& what) {
    const std::lock_guard guard{mutex_};
    threads_[what].insert(thread_name());
  }
  std::set<std::string> of(const std::string& what) {
    const std::lock_guard guard{mutex_};
    return threads_[what];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> threads_;  // guarded by mutex_
};

/// Candidates for leases of a server, with a clock that the test advances. Requests take real time.
class LeaseLoop : public testing::Test {
 protected:
  ~LeaseLoop() override {
    own_server_.reset();
    EXPECT_TRUE(becomes_true([&] { return test::thread_count() <= threads_before_; }));
  }

  /// Runs an elector's run() in a thread of its own until it is destroyed.
  class Running {
   public:
    explicit Running(LeaderElector& elector)
        : ended_(std::async(std::launch::async,
                            [this, &elector] { elector.run(stop_.get_token()); })) {}
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { stop_.request_stop(); }  // then waits
    void wait() const { ended_.wait(); }

   private:
    std::stop_source stop_;
    std::future<void> ended_;
  };

  [[nodiscard]] Client client(ClientOptions options = {}) const {
    options.log = Logger{};
    return Client{election_config(server_.config(), 10s), std::move(options)};
  }
  [[nodiscard]] std::shared_ptr<LeaseLock> lock(const Client& client,
                                                const std::string& name = "lock") {
    return std::make_shared<LeaseLock>(
        client, LeaseLockOptions{
                    .namespace_ = "default", .name = name, .identity = "me", .clock = &clock_});
  }
  [[nodiscard]] LeaderElectionOptions options() {
    LeaderElectionOptions options;
    options.clock = &clock_;
    options.random = [] { return 0.0; };
    options.log = Logger{};
    options.on_started_leading = [this](const std::stop_token& stop) {
      ++leading_;
      static_cast<void>(DoneSignal{}.wait(stop));
      --leading_;
    };
    options.on_stopped_leading = [this] { ++stopped_; };
    return options;
  }
  [[nodiscard]] MicroTime renewed(const std::string& name = "lock") {
    const auto found = server_.find<Lease>("default", name);
    return found ? found->spec.renew_time : MicroTime{};
  }
  /// Advances the clock, and returns whether the lease is renewed.
  [[nodiscard]] bool renews() {
    if (!becomes_true([&] { return clock_.next_deadline() == clock_.now() + 2s; })) return false;
    clock_.advance(2s);
    return becomes_true([&] { return renewed() == MicroTime{clock_.wall_now()}; });
  }

  const std::size_t threads_before_ = test::thread_count();
  testkit::FakeClock clock_;
  std::unique_ptr<testkit::ApiServer> own_server_ = std::make_unique<testkit::ApiServer>();
  testkit::ApiServer& server_ = *own_server_;
  std::atomic<int> leading_ = 0;
  std::atomic<int> stopped_ = 0;
};

// RT-11
TEST_F(LeaseLoop, RenewsWhileAllThreadsOfTheClientAreStuck) {
  const auto runtime =
      std::make_shared<Runtime>(RuntimeOptions{.threads = 2, .max_threads = 2, .log = Logger{}});
  const Client busy = client({.runtime = runtime});
  for (int i = 0; i < 2000; ++i) {
    core::v1::ConfigMap map;
    map.metadata.name = "map-" + std::to_string(i);
    map.metadata.namespace_ = "default";
    server_.create(map);
  }
  Gate gate;
  test::Counter stuck;
  LeaderElector elector{lock(busy), options()};
  const Running running{elector};
  ASSERT_TRUE(becomes_true([&] { return leading_ == 1; }));
  const auto block = [&] {
    stuck.add();
    gate.pass();
  };
  const std::vector jobs{test::make_job(*runtime, Placement::kBlocking, block),
                         test::make_job(*runtime, Placement::kBlocking, block),
                         test::make_job(*runtime, Placement::kLibrary, block)};

  for (const auto& job : jobs) job->schedule();
  ASSERT_TRUE(stuck.reaches(3));
  runtime->loop().post(block);
  ASSERT_TRUE(stuck.reaches(4));
  auto list = std::async(std::launch::async, [&] {
    return busy.resource<core::v1::ConfigMap>("default").list().items.size();
  });
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(renews()) << i;  // for a minute

  EXPECT_TRUE(elector.is_leader());
  EXPECT_EQ(leading_, 1);
  gate.open();
  EXPECT_GE(list.get(), 2000U);
}

// RT-11: noticed within the renew deadline, and the work is stopped.
TEST_F(LeaseLoop, NoticesInTimeThatTheServerDoesNotAnswer) {
  LeaderElector elector{lock(client()), options()};
  const Running running{elector};
  ASSERT_TRUE(becomes_true([&] { return leading_ == 1; }));
  ASSERT_TRUE(renews());
  const auto last = clock_.now();

  server_.faults().always().matching({.resource = "leases"}).go_silent();
  ASSERT_TRUE(becomes_true([&] {
    const auto next = clock_.next_deadline();
    if (leading_ == 1 && next != Clock::TimePoint::max()) clock_.advance(next - clock_.now());
    return leading_ == 0;
  }));

  EXPECT_LE(clock_.now(), last + 12s);  // a retry period and the renew deadline
  running.wait();
  EXPECT_FALSE(elector.is_leader());
  EXPECT_EQ(stopped_, 1);
}

// RT-2, RT-11: one thread for any number of leases, created with the first and ended with the last.
TEST_F(LeaseLoop, HasOneThreadForAllLeases) {
  const Client shared = client();
  std::vector<std::unique_ptr<LeaderElector>> electors;
  for (int i = 0; i < 20; ++i) {
    LeaderElectionOptions quiet = options();
    quiet.on_started_leading = [this](const std::stop_token&) { ++leading_; };
    electors.push_back(
        std::make_unique<LeaderElector>(lock(shared, "lock-" + std::to_string(i)), quiet));
  }
  EXPECT_EQ(threads_named("kube-lease"), 0U);

  for (const auto& elector : electors) elector->start();
  ASSERT_TRUE(becomes_true([&] { return leading_ == 20; }));
  EXPECT_EQ(threads_named("kube-lease"), 1U);
  EXPECT_EQ(threads_named("kube-io"), 1U);  // the client's
  EXPECT_TRUE(becomes_true([&] { return threads_named("kube-leader") == 0; }));
  for (const auto& elector : electors) EXPECT_TRUE(elector->is_leader());
  for (const auto& elector : electors) elector->request_stop();
  for (const auto& elector : electors) EXPECT_TRUE(elector->ended().wait({}));
  EXPECT_EQ(stopped_, 20);
  electors.clear();
  // The system may list a thread for a moment after it was joined.
  EXPECT_TRUE(becomes_true([&] { return threads_named("kube-lease") == 0; }));
}

// RT-11: the only user code that the thread of leases calls is on_request.
TEST_F(LeaseLoop, CallsTheUserOnOtherThreads) {
  Callers callers;
  ClientOptions hooks;
  hooks.on_request = [&](HttpRequest&) { callers.note("on_request"); };
  hooks.on_attempt = [&](const AttemptReport& report) {
    EXPECT_NE(report.url.find("/leases"), std::string_view::npos);
    callers.note("on_attempt");
  };
  LeaderElectionOptions told = options();
  told.log = Logger{[&](LogLevel, std::string_view, std::string_view) { callers.note("log"); },
                    LogLevel::kDebug};
  told.on_new_leader = [&](const std::string&) { callers.note("on_new_leader"); };
  told.on_started_leading = [&](const std::stop_token& stop) {
    const std::stop_callback noted{stop, [&] { callers.note("stop"); }};
    ++leading_;
    static_cast<void>(DoneSignal{}.wait(stop));
  };
  told.on_stopped_leading = [&] { callers.note("on_stopped_leading"); };
  const auto sink = std::make_shared<RecordingSink<core::v1::Event>>();
  sink->set_fault([&](const auto&, std::stop_token) { callers.note("sink"); });
  const auto recorder =
      std::make_shared<EventRecorder>(sink, EventRecorderOptions{.component = "c", .host = "h"});
  const auto held = std::make_shared<LeaseLock>(client(hooks), LeaseLockOptions{
                                                                   .namespace_ = "default",
                                                                   .name = "lock",
                                                                   .identity = "me",
                                                                   .recorder = recorder,
                                                                   .clock = &clock_,
                                                               });
  LeaderElector elector{held, told};
  elector.start();
  ASSERT_TRUE(becomes_true([&] { return leading_ == 1; }));
  ASSERT_TRUE(renews());

  // Another candidate leads: the library stops the work.
  Lease stolen{.metadata = {.name = "lock", .namespace_ = "default"}};
  stolen.spec.holder_identity = "other";
  stolen.spec.lease_duration_seconds = 3600;
  server_.create(stolen);
  ASSERT_TRUE(becomes_true([&] { return clock_.next_deadline() == clock_.now() + 2s; }));
  clock_.advance(2s);
  ASSERT_TRUE(elector.ended().wait({}));
  ASSERT_TRUE(recorder->flush(10s));

  EXPECT_EQ(callers.of("on_request"), std::set<std::string>{"kube-lease"});
  for (const char* const what :
       {"on_attempt", "log", "on_new_leader", "stop", "on_stopped_leading", "sink"}) {
    const std::set<std::string> threads = callers.of(what);
    EXPECT_FALSE(threads.empty()) << what;
    EXPECT_FALSE(threads.contains("kube-lease")) << what;
  }
}

// RT-11: a log that blocks delays neither renewals nor the reaction to a lost lease.
TEST_F(LeaseLoop, DoesNotWaitForALogThatBlocks) {
  Gate gate;
  LeaderElectionOptions slow = options();
  slow.log =
      Logger{[&](LogLevel, std::string_view, std::string_view) { gate.pass(); }, LogLevel::kInfo};
  LeaderElector elector{lock(client()), slow};
  const Running running{elector};
  ASSERT_TRUE(becomes_true([&] { return leading_ == 1; }));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(renews()) << i;
  clock_.advance(1h);
  EXPECT_FALSE(elector.is_leader());
  EXPECT_TRUE(becomes_true([&] { return leading_ == 0; }));
  gate.open();
}

// RT-11: a lock that a user wrote blocks only a thread of its own.
TEST_F(LeaseLoop, CallsTheLockOfAUserOnAThreadOfItsOwn) {
  MemoryLease lease;
  const auto locked = std::make_shared<MemoryLock>(lease, "me");
  Callers callers;
  Gate gate;
  locked->set_faults([&](std::string_view method, const LockCall&) {
    callers.note("lock");
    if (method == "update") gate.pass();
    return MemoryLock::Fault::kNone;
  });
  LeaderElector stuck{locked, options()};
  const Running held_up{stuck};
  ASSERT_TRUE(becomes_true([&] { return leading_ == 1; }));
  EXPECT_EQ(threads_named("kube-lock"), 1U);
  clock_.advance(2s);
  ASSERT_TRUE(becomes_true([&] { return locked->calls().size() == 3; }));

  // Other leases do not wait for it.
  LeaderElector other{lock(client()), options()};
  const Running going{other};
  ASSERT_TRUE(becomes_true([&] { return leading_ == 2; }));
  ASSERT_TRUE(renews());

  EXPECT_EQ(callers.of("lock"), std::set<std::string>{"kube-lock"});
  gate.open();
}

// OL-2, RT-6: with a client without threads, the program's own loop renews, and notices when it was
// late.
TEST_F(LeaseLoop, RunsOnTheLoopOfAProgramThatWantsNoThreads) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0, .log = Logger{}});
  const std::thread::id here = std::this_thread::get_id();
  LeaderElectionOptions own = options();
  std::optional<std::stop_token> work;
  own.on_started_leading = [&](std::stop_token stop) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    work = std::move(stop);
  };
  own.on_new_leader = [&](const std::string&) { EXPECT_EQ(std::this_thread::get_id(), here); };
  LeaderElector elector{lock(client({.runtime = runtime})), own};
  const auto runs_until = [&](const std::function<bool()>& condition) {
    return becomes_true([&] {
      runtime->loop().run_ready();
      return condition();
    });
  };
  const std::size_t threads = test::thread_count();

  elector.start();
  ASSERT_TRUE(runs_until([&] { return work.has_value(); }));
  EXPECT_TRUE(elector.is_leader());
  clock_.advance(2s);
  ASSERT_TRUE(runs_until([&] { return renewed() == MicroTime{clock_.wall_now()}; }));
  EXPECT_EQ(test::thread_count(), threads);
  ASSERT_TRUE(runs_until([&] { return clock_.next_deadline() == clock_.now() + 2s; }));

  clock_.advance(30s);  // the program does not run the loop for a while
  EXPECT_FALSE(elector.is_leader());
  EXPECT_FALSE(work->stop_requested());
  const auto before = renewed();
  ASSERT_TRUE(runs_until([&] { return elector.ended().done(); }));
  EXPECT_TRUE(work->stop_requested());
  EXPECT_EQ(renewed(), before);
  EXPECT_EQ(stopped_, 1);
}

// start(): exceptions of the work are logged, and the elector can be started again.
TEST_F(LeaseLoop, StartsAgainAfterItsEnd) {
  std::atomic<bool> fails = true;
  std::atomic<int> lines = 0;
  LeaderElectionOptions failing = options();
  failing.release_on_cancel = true;
  failing.log = Logger{[&](LogLevel, std::string_view, std::string_view line) {
                         if (line.find("no disk") != std::string_view::npos) ++lines;
                       },
                       LogLevel::kError};
  failing.on_started_leading = [&](const std::stop_token& stop) {
    ++leading_;
    if (fails) throw std::runtime_error{"no disk"};
    static_cast<void>(DoneSignal{}.wait(stop));
  };
  LeaderElector elector{lock(client()), failing};
  elector.start();
  ASSERT_TRUE(elector.ended().wait({}));
  EXPECT_EQ(lines, 1);
  fails = false;
  elector.start();
  EXPECT_THROW(elector.start(), std::logic_error);
  EXPECT_THROW(elector.run({}), std::logic_error);
  ASSERT_TRUE(becomes_true([&] { return leading_ == 2; }));
  EXPECT_EQ(stopped_, 1);
  // The destructor ends it.
}

}  // namespace
}  // namespace kube
