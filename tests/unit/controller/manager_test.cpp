// SPDX-License-Identifier: Apache-2.0
#include "manager_fixture.hpp"

#include <kube/api/coordination/v1.hpp>
#include <kube/controller/event_recorder.hpp>

#include "http_client.hpp"
#include "thread_names.hpp"

#include <atomic>

namespace kube {
namespace {

using coordination::v1::Lease;
using test::http_get;

class ManagerRunTest : public ManagerTest {
 protected:
  [[nodiscard]] ManagerOptions elected_options(const std::string& identity = "me") {
    ManagerOptions result = options();
    result.leader_election = {
        .name = "lock", .namespace_ = space, .identity = identity, .release_on_cancel = true};
    result.cache.sync_period = {};  // a wait for a resync would look like the election's
    result.client.on_request = [this](const HttpRequest& request) {
      if (request.target.find("/leases") == std::string::npos) return;
      if (leases_out_of_reach_)
        throw TransportError{TransportError::Kind::kConnect, "out of reach"};
      ++in_flight_;
    };
    result.client.on_attempt = [this](const AttemptReport& report) {
      if (report.url.find("/leases") != std::string_view::npos) --in_flight_;
    };
    return result;
  }
  /// Like eventually(). The clock advances, but only when `sleepers` wait for it and the election
  /// waits for no response; in steps too small to affect a request that is about to begin.
  [[nodiscard]] bool eventually_electing(std::size_t sleepers,
                                         const std::function<bool()>& condition) {
    return server.wait_for([&] {
      if (condition()) return true;
      const auto next = clock.next_deadline();
      if (in_flight_ == 0 && clock.sleepers() >= sleepers && next != Clock::TimePoint::max()) {
        clock.advance(std::min<Clock::Duration>(next - clock.now(), 1s));
      }
      return false;
    });
  }
  void hold_lease(const std::string& holder) {
    Lease lease{.metadata = {.name = "lock", .namespace_ = space}};
    lease.spec.holder_identity = holder;
    lease.spec.lease_duration_seconds = 3600;
    lease.spec.renew_time = clock.wall_now();
    server.create(lease);
  }
  [[nodiscard]] std::string holder() const {
    const auto lease = server.find<Lease>(space, "lock");
    return lease ? lease->spec.holder_identity->str() : "nobody";
  }
  std::atomic<int> in_flight_ = 0;
  std::atomic<bool> leases_out_of_reach_ = false;

  void add_noting(
      const std::string& name, bool needs_leader_election, std::function<void()> at_end = [] {}) {
    running->manager.add(
        [this, name, at_end = std::move(at_end)](const std::stop_token& stop) {
          worked.note(name + " begins");
          static_cast<void>(DoneSignal{}.wait(stop));
          at_end();
          worked.note(name + " ends");
        },
        {.name = name, .needs_leader_election = needs_leader_election});
  }
};

// CF-40: starts endpoints, caches, runnables without and then with a leader; stops in an order that
// keeps the lease to the end.
TEST_F(ManagerRunTest, StartsAndStopsInOrder) {
  if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  server->faults().next(1).matching({.resource = "configmaps"}).go_silent();
  ManagerOptions from = elected_options();
  from.health_address = "127.0.0.1:0";
  from.metrics_address = "127.0.0.1:0";
  Manager& manager = make(std::move(from));
  manager.add_healthz_check("ping", ping());
  manager.index_field<ConfigMap>("x", [](const ConfigMap&) -> std::vector<std::string> {
    return {};
  });  // so that there is a cache to wait for
  add_noting("other", false, [&] {
    EXPECT_EQ(worked.count("leader ends"), 0U);
    EXPECT_EQ(holder(), "me");
  });
  add_noting("leader", true, [&] {
    EXPECT_EQ(worked.count("other ends"), 1U);
    EXPECT_EQ(holder(), "me");
    EXPECT_EQ(http_get(manager.health_address(), "/healthz").status, 200);
    EXPECT_FALSE(manager.find<ConfigMap>({space, "none"}));
    EXPECT_EQ(server->watch_count(), 1U);
  });
  running->start();

  // The cache is not filled: only the endpoints exist.
  ASSERT_TRUE(eventually([&] { return server->faults().struck() == 1; }));
  ASSERT_TRUE(eventually([&] { return !manager.health_address().empty(); }));
  EXPECT_EQ(http_get(manager.health_address(), "/healthz").status, 200);
  EXPECT_EQ(http_get(manager.metrics_address(), "/metrics").status, 200);
  EXPECT_EQ(worked.size(), 0U);
  EXPECT_EQ(holder(), "nobody");

  server.drop_connections();
  ASSERT_TRUE(eventually_electing(1, [&] { return worked.size() >= 1; }));
  ASSERT_TRUE(eventually([&] { return worked.size() == 2 && server->watch_count() == 1; }));
  EXPECT_EQ(holder(), "me");
  running->finish();
  EXPECT_EQ(worked.all(), (std::vector<std::string>{"other begins", "leader begins", "other ends",
                                                    "leader ends"}));
  EXPECT_EQ(manager.health_address(), "");
  EXPECT_EQ(holder(), "");
}

// CF-41: after the timeout run() throws; the destructor waits for the rest, and keeps the lease
// meanwhile.
TEST_F(ManagerRunTest, WaitsThirtySecondsForTheEnd) {
  make(elected_options());
  const DoneSignal release;
  add_noting("stubborn", true, [&] { static_cast<void>(release.wait({})); });
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));

  running->stop.request_stop();
  const auto stopped = clock.now();
  // The election continues to renew the lease meanwhile.
  ASSERT_TRUE(eventually_electing(2, [&] { return running->ended.done(); }));
  EXPECT_GE(clock.now(), stopped + 30s);
  EXPECT_LT(clock.now(), stopped + 35s);
  EXPECT_THROW(running->join(), ShutdownTimeoutError);
  EXPECT_EQ(worked.count("stubborn ends"), 0U);
  EXPECT_EQ(holder(), "me");
  release.fire();
  running.reset();
  EXPECT_EQ(worked.count("stubborn ends"), 1U);
  EXPECT_EQ(holder(), "");
}

// CF-41: 0 means no waiting, a negative value no limit.
TEST_F(ManagerRunTest, WaitsForTheConfiguredTime) {
  for (const auto grace : {0s, -1s}) {
    worked.clear();
    ManagerOptions from = options();
    from.graceful_shutdown_timeout = grace;
    make(std::move(from));
    const DoneSignal release;
    add_noting("stubborn", false, [&] { static_cast<void>(release.wait({})); });
    running->start();
    ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));

    running->stop.request_stop();
    if (grace == 0s) {
      EXPECT_NO_THROW(running->join());
      EXPECT_EQ(worked.size(), 1U);
      release.fire();
    } else {
      clock.advance(24h);
      EXPECT_FALSE(running->ended.done());
      release.fire();
      EXPECT_NO_THROW(running->join());
      EXPECT_EQ(worked.size(), 2U);
    }
    running.reset();
  }
}

// CF-41, LE-10: a manager that has lost the lease ends immediately, whatever its work is doing.
TEST_F(ManagerRunTest, EndsAtOnceWhenTheLeadershipIsLost) {
  make(elected_options());
  const DoneSignal release;
  add_noting("stubborn", true, [&] { static_cast<void>(release.wait({})); });
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));
  ASSERT_TRUE(running->manager.elected().done());

  hold_lease("somebody else");
  const auto start = clock.now();
  ASSERT_TRUE(eventually_electing(1, [&] { return running->ended.done(); }));
  EXPECT_THROW(running->join(), LeadershipLostError);
  EXPECT_LE(clock.now(), start + 10s);
  EXPECT_EQ(worked.size(), 1U);
  EXPECT_EQ(holder(), "somebody else");
  release.fire();
  running.reset();
}

// CF-41: a leader that cannot reach the server gives up in time, and does not release the lease
// while it works.
TEST_F(ManagerRunTest, GivesUpInTimeWhenTheServerIsGone) {
  make(elected_options());
  const DoneSignal release;
  add_noting("stubborn", true, [&] { static_cast<void>(release.wait({})); });
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));

  leases_out_of_reach_ = true;
  const auto start = clock.now();
  ASSERT_TRUE(eventually_electing(1, [&] { return running->ended.done(); }));
  EXPECT_THROW(running->join(), LeadershipLostError);
  EXPECT_LE(clock.now(), start + 15s);
  leases_out_of_reach_ = false;
  EXPECT_EQ(holder(), "me");
  release.fire();
  running.reset();
  EXPECT_EQ(holder(), "");
}

// CF-41
TEST_F(ManagerRunTest, RunsOnce) {
  Manager& manager = make();
  running->start();
  ASSERT_TRUE(manager.elected().wait({}));
  EXPECT_THROW(manager.run({}), std::logic_error);
  running->finish();
  EXPECT_THROW(manager.run({}), std::logic_error);
}

// CF-40: an exception of one runnable ends all of them.
TEST_F(ManagerRunTest, EndsWithARunnableThatFails) {
  Manager& manager = make();
  add_noting("other", false);
  manager.add([](const std::stop_token&) { throw Error{"no disk left"}; }, {.name = "cleaner"});
  manager.add([](const std::stop_token&) {});
  running->start();
  try {
    running->join();
    FAIL() << "run() returned";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no disk left");
  }
  EXPECT_EQ(worked.count("other ends"), worked.count("other begins"));
  EXPECT_NE(log().find("cleaner failed: no disk left"), std::string::npos);
  EXPECT_THROW(manager.add([](const std::stop_token&) {}), std::logic_error);
}

// CF-40: run() waits for caches that were requested before the start, but not for ever.
TEST_F(ManagerRunTest, NamesTheCacheThatCannotBeFilled) {
  Manager& manager = make(options(), server.config_for("alice"));
  manager.index_field<ConfigMap>("x",
                                 [](const ConfigMap&) -> std::vector<std::string> { return {}; });
  running->start();
  ASSERT_TRUE(eventually_with_time([&] { return running->ended.done(); }));
  try {
    running->join();
    FAIL() << "run() returned";
  } catch (const CacheSyncError& error) {
    EXPECT_NE(std::string{error.what()}.find("ConfigMap"), std::string::npos) << error.what();
  }
}

// Controllers and runnables may be added while the manager runs.
TEST_F(ManagerRunTest, AcceptsControllersWhileItRuns) {
  Manager& manager = make();
  running->start();
  ASSERT_TRUE(manager.elected().wait({}));
  put("a");
  Worked seen;
  manager.controller<ConfigMap>("late").reconcile(seen.noting());
  add_noting("late", true);
  EXPECT_TRUE(eventually([&] { return seen.size() == 1 && worked.size() == 1; }));
  running->finish();
}

// CF-42: controllers wait for the leadership unless they need none; the caches of some are filled
// before.
TEST_F(ManagerRunTest, WarmsUpBeforeItLeads) {
  hold_lease("somebody else");
  put("a");
  server.create(Secret{.metadata = {.name = "s", .namespace_ = space}});
  Manager& manager = make(elected_options());
  Worked everywhere;
  Worked warm;
  manager.controller<core::v1::Namespace>("everywhere")
      .with_options({.needs_leader_election = false})
      .reconcile(everywhere.noting());
  manager.controller<ConfigMap>("warm").with_options({.warm_up = true}).reconcile(warm.noting());
  manager.controller<Secret>("cold").reconcile(worked.noting());
  running->start();
  EXPECT_TRUE(eventually([&] { return everywhere.count("default") == 1; }));
  const auto queued = [&] {
    return gauged("workqueue_depth",
                  {{"name", "warm"}, {"controller", "warm"}, {"priority", "-100"}});
  };
  EXPECT_TRUE(eventually([&] { return queued() == 1; }));
  EXPECT_EQ(watches("secrets"), 0U);
  EXPECT_EQ(warm.size() + worked.size(), 0U);
  EXPECT_FALSE(manager.elected().done());

  server.remove<Lease>(space, "lock");
  EXPECT_TRUE(eventually_electing(1, [&] { return warm.size() == 1 && worked.size() == 1; }));
  EXPECT_EQ(watches("configmaps"), 1U);
  running->finish();
}

// LE-14
TEST_F(ManagerRunTest, NeedsANamespaceForItsLease) {
  ManagerOptions from = options();
  from.leader_election = {.name = "lock"};
  EXPECT_THROW(make(std::move(from)), Error);
}

// LE-11, LE-14: the leader is visible in events and metrics, with its identity.
TEST_F(ManagerRunTest, ReportsTheLeader) {
  ManagerOptions from = elected_options("");
  std::mutex mutex;
  std::string leader;
  from.leader_election.on_new_leader = [&](const std::string& identity) {
    const std::lock_guard guard{mutex};
    leader = identity;
  };
  Manager& manager = make(std::move(from));
  running->start();
  ASSERT_TRUE(manager.elected().wait({}));
  EXPECT_EQ(holder().size(), holder().rfind('_') + 1 + 36);
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return leader == holder();
  }));
  EXPECT_EQ(gauged("leader_election_master_status", {{"name", "lock"}}), 1);
  EXPECT_TRUE(eventually([&] { return server.count<core::v1::Event>(space) == 1; }));
  clock.advance(1ms);  // two events must not have the same name
  running->finish();
  EXPECT_EQ(server.count<core::v1::Event>(space), 2U);
}

// LO-1, RT-2: besides the thread inside run(), one waits for sockets and timers, one renews the
// lease, one runs the leader's work; recorders and endpoints have none.
TEST_F(ManagerRunTest, HasNoThreadsThatOnlyWait) {
  if (server.is_real()) GTEST_SKIP() << "the test itself has a client of a real server";
  const auto others = [] {
    return test::threads_with([](std::string_view name) { return !name.starts_with("kube-"); });
  };
  const std::size_t before = others();
  ManagerOptions from = elected_options();
  from.health_address = "127.0.0.1:0";
  from.metrics_address = "127.0.0.1:0";
  Manager& manager = make(std::move(from));
  manager.add_healthz_check("ping", ping());
  const auto recorders = {manager.event_recorder("a"), manager.event_recorder("b")};
  running->start();
  ASSERT_TRUE(manager.elected().wait({}));
  for (const auto& recorder : recorders) {
    recorder->record(config_map(space, "a"), "Normal", "Seen", "it is there");
    EXPECT_TRUE(recorder->flush(10s));
  }
  EXPECT_EQ(http_get(manager.health_address(), "/healthz").status, 200);

  EXPECT_EQ(test::threads_named("kube-io"), 1U);
  EXPECT_EQ(test::threads_named("kube-lease"), 1U);
  EXPECT_EQ(test::threads_named("kube-leader"), 1U);
  EXPECT_EQ(others(), before + 1);
  running->finish();
}

// Events of controllers are sent before the end.
TEST_F(ManagerRunTest, SendsEventsBeforeItEnds) {
  put("a");
  Manager& manager = make();
  manager.controller<ConfigMap>("maps").reconcile([&](const Request& request) {
    manager.event_recorder("maps")->record(*manager.find<ConfigMap>(request.key), "Normal", "Seen",
                                           "it is there");
    worked.note(request.key.name);
    return done();
  });
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));
  running->finish();
  EXPECT_EQ(server.count<core::v1::Event>(space), 1U);
}

// CF-44
TEST_F(ManagerRunTest, ServesHealth) {
  ManagerOptions from = elected_options();
  from.health_address = "127.0.0.1:0";
  Manager& manager = make(std::move(from));
  std::atomic<bool> well = true;
  manager.add_healthz_check("leaderElection", manager.leader_election_check());
  manager.add_healthz_check("disk", [&]() -> std::optional<std::string> {
    if (well) return std::nullopt;
    return "full";
  });
  running->start();
  ASSERT_TRUE(manager.elected().wait({}));
  const std::string address = manager.health_address();
  EXPECT_EQ(http_get(address, "/healthz").body, "ok");
  EXPECT_EQ(http_get(address, "/healthz/disk").body, "ok");
  EXPECT_EQ(http_get(address, "/healthz?verbose").body,
            "[+]disk ok\n[+]leaderElection ok\nhealthz check passed\n");
  EXPECT_EQ(http_get(address, "/healthzz").status, 404);
  EXPECT_EQ(http_get(address, "/readyz").status, 404);
  EXPECT_EQ(http_get(address, "/metrics").status, 404);
  well = false;
  EXPECT_EQ(http_get(address, "/healthz").status, 500);
  EXPECT_EQ(http_get(address, "/healthz?exclude=disk").status, 200);
  EXPECT_THROW(manager.add_healthz_check("late", ping()), std::logic_error);
  EXPECT_THROW(manager.add_readyz_check("late", ping()), std::logic_error);
  running->finish();
}

// CF-44, CF-45: off unless enabled; "0" is off, too.
TEST_F(ManagerRunTest, ServesNothingUnlessAskedTo) {
  for (const char* address : {"", "0"}) {
    ManagerOptions from = options();
    from.health_address = address;
    from.metrics_address = address;
    Manager& manager = make(std::move(from));
    manager.add_readyz_check("ping", ping());
    running->start();
    ASSERT_TRUE(manager.elected().wait({}));
    EXPECT_EQ(manager.health_address() + manager.metrics_address(), "");
    running->finish();
  }
}

// CF-45: on every replica, whether it leads or not.
TEST_F(ManagerRunTest, ServesMetrics) {
  hold_lease("somebody else");
  ManagerOptions from = elected_options();
  from.metrics_address = "127.0.0.1:0";
  Manager& manager = make(std::move(from));
  manager.controller<ConfigMap>("maps").reconcile(worked.noting());
  manager.add_metrics_path("/extra", [] { return HttpReply{.body = "more"}; });
  EXPECT_THROW(manager.add_metrics_path("/metrics", [] { return HttpReply{}; }),
               std::invalid_argument);
  EXPECT_THROW(manager.add_metrics_path("/extra", [] { return HttpReply{}; }),
               std::invalid_argument);
  EXPECT_THROW(manager.add_metrics_path("extra", [] { return HttpReply{}; }),
               std::invalid_argument);
  running->start();
  ASSERT_TRUE(eventually([&] { return !manager.metrics_address().empty(); }));
  const auto metrics = http_get(manager.metrics_address(), "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.head.find("Content-Type: text/plain; version=0.0.4"), std::string::npos);
  for (const char* name : {"controller_runtime_reconcile_total", "workqueue_depth",
                           "leader_election_master_status", "rest_client_requests_total"}) {
    EXPECT_TRUE(eventually([&] {
      return http_get(manager.metrics_address(), "/metrics").body.find(name) != std::string::npos;
    })) << name;
  }
  EXPECT_EQ(http_get(manager.metrics_address(), "/extra").body, "more");
  EXPECT_EQ(http_get(manager.metrics_address(), "/").status, 404);
  EXPECT_THROW(manager.add_metrics_path("/late", [] { return HttpReply{}; }), std::logic_error);
  running->finish();
}

// A port that is in use ends the manager before anything has started.
TEST_F(ManagerRunTest, ReportsAnAddressInUse) {
  ManagerOptions from = options();
  from.metrics_address = "127.0.0.1:" + std::to_string(server.port());
  make(std::move(from));
  add_noting("other", false);
  running->start();
  EXPECT_THROW(running->join(), Error);
  EXPECT_EQ(worked.size(), 0U);
}

}  // namespace
}  // namespace kube
