// SPDX-License-Identifier: Apache-2.0
#include "manager_fixture.hpp"

#include <atomic>
#include <set>

namespace kube {
namespace {

class ControllerTest : public ManagerTest {
 protected:
  /// The first caller waits here until open().
  void gate() {
    waiting.fire();
    static_cast<void>(opened.wait({}));
  }
  const DoneSignal waiting;
  const DoneSignal opened;
};

// CF-1, CF-20, CF-30: existing, new and deleted objects become requests; the cache is at least as
// new.
TEST_F(ControllerTest, ReconcilesEveryObjectOfItsKind) {
  put("old");
  Manager& manager = make();
  Worked seen;
  manager.controller<ConfigMap>("maps").reconcile([&](const Request& request) {
    const auto map = manager.find<ConfigMap>(request.key);
    seen.note(request.key.str() + (map ? "" : " is gone"));
    return done();
  });
  running->start();

  EXPECT_TRUE(eventually([&] { return seen.count(key("old")) == 1; }));
  put("new");
  EXPECT_TRUE(eventually([&] { return seen.count(key("new")) == 1; }));
  server.remove<ConfigMap>(space, "new");
  EXPECT_TRUE(eventually([&] { return seen.count(key("new is gone")) == 1; }));
  running->finish();
}

// CF-47
TEST_F(ControllerTest, WithoutAReconcileFunctionKeepsTheManagerFromRunning) {
  Manager& manager = make();
  manager.controller<ConfigMap>("maps").reconcile(worked.noting());
  static_cast<void>(manager.controller<ConfigMap>("forgotten"));
  try {
    manager.run({});
    ADD_FAILURE() << "it ran";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(),
                 "controller forgotten has no reconcile function; end what begins with "
                 "Manager::controller() with .reconcile(function)");
  }
}

// CF-46
TEST_F(ControllerTest, LogsNoErrorForConflicts) {
  put("a");
  Manager& manager = make();
  manager.controller<ConfigMap>("maps").reconcile([&](const Request& request) {
    worked.note(request.key.name);
    if (worked.size() > 1) return done();
    ConfigMap stale = *manager.get<ConfigMap>(request.key);
    stale.metadata.resource_version = "1";
    manager.client().resource<ConfigMap>(space).update(stale);
    return done();
  });
  running->start();
  ASSERT_TRUE(eventually_with_time([&] { return worked.size() == 2; }));
  running->finish();
  EXPECT_NE(log().find("reconciling " + key("a") + " met a conflict"), std::string::npos) << log();
  EXPECT_EQ(log().find("failed"), std::string::npos) << log();
}

// CF-46
TEST_F(ControllerTest, LogsNoErrorForARequestCanceledByTheStop) {
  put("a");
  Manager& manager = make();
  manager.controller<ConfigMap>("maps").reconcile(
      [&](const Request&, std::stop_token stop) -> Result {
        waiting.fire();
        static_cast<void>(DoneSignal{}.wait(stop));
        static_cast<void>(manager.client().resource<ConfigMap>(space).get("a", {}, stop));
        return done();
      });
  running->start();
  ASSERT_TRUE(waiting.wait({}));
  running->finish();
  EXPECT_EQ(log().find("failed"), std::string::npos) << log();
}

// WQ-30, CF-3: objects that existed before have a lower priority than changes.
TEST_F(ControllerTest, ReconcilesChangesBeforeExistingObjects) {
  for (const char* name : {"a", "b", "c"}) put(name);
  make().controller<ConfigMap>("maps").reconcile([&](const Request& request) {
    worked.note(request.key.name);
    if (worked.size() == 1) gate();
    return done();
  });
  running->start();
  ASSERT_TRUE(waiting.wait({}));

  put("urgent");
  const auto depth = [&](const char* priority) {
    return gauged("workqueue_depth",
                  {{"name", "maps"}, {"controller", "maps"}, {"priority", priority}});
  };
  ASSERT_TRUE(eventually([&] { return depth("0") == 1 && depth("-100") == 2; }));
  opened.fire();

  ASSERT_TRUE(eventually([&] { return worked.size() == 4; }));
  EXPECT_EQ(worked.all()[1], "urgent");
  running->finish();
}

// CF-2
TEST_F(ControllerTest, RequeuesAfterExactlyTheGivenTime) {
  put("a");
  make().controller<ConfigMap>("maps").reconcile([&](const Request& request) {
    worked.note(request.key.name);
    return worked.size() == 1 ? requeue_after(10min) : done();
  });
  const auto start = clock.now();
  running->start();
  ASSERT_TRUE(eventually([&] { return worked.size() == 1; }));

  ASSERT_TRUE(eventually([&] { return clock.next_deadline() == start + 10min; }));
  clock.advance(10min);
  EXPECT_TRUE(eventually([&] { return worked.size() == 2; }));
  EXPECT_EQ(counted("controller_runtime_reconcile_total",
                    {{"controller", "maps"}, {"result", "requeue_after"}}),
            1U);
  running->finish();
}

// CF-4
TEST_F(ControllerTest, UsesTheMostSpecificConcurrencySetting) {
  const auto most = [&](const char* controller) {
    return gauged("controller_runtime_max_concurrent_reconciles", {{"controller", controller}});
  };
  make().controller<ConfigMap>("one").reconcile(worked.noting());
  EXPECT_EQ(most("one"), 1);

  ManagerOptions from = options();
  from.max_concurrent_reconciles = 2;
  from.kind_concurrency = {{{"", "ConfigMap"}, 3}};
  Manager& manager = make(std::move(from));
  manager.controller<Secret>("two").reconcile(worked.noting());
  manager.controller<ConfigMap>("three").reconcile(worked.noting());
  manager.controller<ConfigMap>("five")
      .with_options({.max_concurrent_reconciles = 5})
      .reconcile(worked.noting());
  EXPECT_EQ(most("two"), 2);
  EXPECT_EQ(most("three"), 3);
  EXPECT_EQ(most("five"), 5);
  EXPECT_THROW(manager.controller<ConfigMap>("none")
                   .with_options({.max_concurrent_reconciles = 0})
                   .reconcile(worked.noting()),
               std::logic_error);
}

// CF-4: several requests concurrently, but never the same one twice.
TEST_F(ControllerTest, NeverReconcilesOneRequestTwiceAtOnce) {
  std::mutex mutex;
  std::multiset<std::string> busy;
  std::atomic<bool> twice = false;
  std::atomic<std::size_t> most = 0;
  make()
      .controller<ConfigMap>("maps")
      .with_options({.max_concurrent_reconciles = 4})
      .reconcile([&](const Request& request) {
        {
          const std::lock_guard guard{mutex};
          busy.insert(request.key.name);
          if (busy.count(request.key.name) > 1) twice = true;
          most = std::max(most.load(), busy.size());
        }
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        if (most < 2) static_cast<void>(server.wait_for([&] { return most >= 2; }, 2s));
        worked.note(request.key.name);
        const std::lock_guard guard{mutex};
        busy.erase(busy.find(request.key.name));
        return done();
      });
  running->start();
  int round = 0;
  EXPECT_TRUE(eventually([&] {
    for (const char* name : {"a", "b", "c"}) {
      put(name, {{"round", std::to_string(round)}});
    }
    ++round;
    return worked.count("a") > 10 && worked.count("b") > 10 && worked.count("c") > 10;
  }));
  running->finish();
  EXPECT_FALSE(twice);
  EXPECT_GE(most, 2U);
}

// CF-2, CF-5, CF-9: every exception becomes an error, and program errors are counted separately.
TEST_F(ControllerTest, SurvivesExceptionsOfReconcilers) {
  put("a");
  put("hopeless");
  ManagerOptions from = options();
  std::mutex mutex;
  std::vector<std::string> reports;
  from.on_reconcile = [&](const ReconcileReport& report) {
    {
      const std::lock_guard guard{mutex};
      reports.push_back(std::string{report.controller} + ' ' + report.request.key.name + ": " +
                        std::string{report.error});
    }
    throw Error{"hooks may throw, too"};
  };
  make(std::move(from))
      .controller<ConfigMap>("maps")
      .reconcile([&](const Request& request) -> Result {
        if (request.key.name == "hopeless") throw TerminalError{"give up"};
        worked.note(request.key.name);
        switch (worked.size()) {
          case 1:
            throw Error{"the server is busy"};
          case 2:
            throw std::out_of_range{"a bug"};
          case 3:
            throw 42;
          case 4:
            return requeue();
          default:
            return done();
        }
      });
  running->start();
  const auto count = [&](const char* name) { return counted(name, {{"controller", "maps"}}); };
  const auto total = [&](const char* result) {
    return counted("controller_runtime_reconcile_total",
                   {{"controller", "maps"}, {"result", result}});
  };
  ASSERT_TRUE(eventually([&] { return worked.size() > 0; }));
  EXPECT_TRUE(eventually_with_time([&] { return total("success") == 1; }));
  running->finish();

  EXPECT_EQ(total("error"), 4U);
  EXPECT_EQ(total("requeue"), 1U);
  EXPECT_EQ(total("requeue_after"), 0U);
  EXPECT_EQ(count("controller_runtime_reconcile_errors_total"), 4U);
  EXPECT_EQ(count("controller_runtime_terminal_reconcile_errors_total"), 1U);
  EXPECT_EQ(count("controller_runtime_reconcile_panics_total"), 2U);
  EXPECT_EQ(std::ranges::count(reports, "maps hopeless: give up"), 1);
  EXPECT_EQ(std::ranges::count(reports, "maps a: the server is busy"), 1);
  EXPECT_EQ(std::ranges::count(reports, "maps a: "), 2);
  EXPECT_NE(log().find("controller maps: reconciling " + key("a") + " failed after"),
            std::string::npos);
  EXPECT_NE(log().find(key("hopeless") + " failed for good"), std::string::npos);
}

// CF-5: the deadline of a reconcile stops its token.
TEST_F(ControllerTest, StopsTheTokenOfAReconcileThatTakesTooLong) {
  put("a");
  make()
      .controller<ConfigMap>("maps")
      .with_options({.reconcile_timeout = 30s})
      .reconcile([&](const Request& request, const std::stop_token& stop) {
        static_cast<void>(DoneSignal{}.wait(stop));
        worked.note(request.key.name);
        return done();
      });
  const auto start = clock.now();
  running->start();
  ASSERT_TRUE(eventually([&] { return clock.next_deadline() == start + 30s; }));
  EXPECT_EQ(worked.size(), 0U);

  clock.advance(30s);
  EXPECT_TRUE(eventually([&] { return worked.size() == 1; }));
  running->finish();
  EXPECT_EQ(counted("controller_runtime_reconcile_timeouts_total", {{"controller", "maps"}}), 1U);
}

// CF-6
TEST_F(ControllerTest, GivesUpIfItsCacheIsNotFilledInTime) {
  make()
      .controller<Value>("foos", {.kind = {{"example.com", "v1", "foos"}, "Foo"}})
      .reconcile(worked.noting());
  const auto limit = clock.now() + 2min;
  running->start();
  ASSERT_TRUE(clock.wait_for_sleepers(2));  // the reflector, and the thread that waits for it
  ASSERT_TRUE(eventually([&] {
    const auto next = clock.next_deadline();
    if (next < limit) clock.advance(next - clock.now());
    return next == limit;
  }));
  EXPECT_FALSE(running->ended.done());
  clock.advance(limit - clock.now());
  ASSERT_TRUE(eventually([&] { return running->ended.done(); }));
  try {
    running->join();
    FAIL() << "run() returned";
  } catch (const CacheSyncError& error) {
    EXPECT_NE(std::string{error.what()}.find("controller foos: the cache of example.com/v1, "
                                             "Kind=Foo was not filled in time"),
              std::string::npos)
        << error.what();
  }
}

// CF-6: a kind that does not exist yet is retried.
TEST_F(ControllerTest, WaitsForAKindThatIsDefinedLater) {
  const std::string group = space + ".example.com";
  make()
      .controller<Value>("foos", {.kind = {{group, "v1", "foos"}, "Foo"}})
      .with_options({.cache_sync_timeout = 1h})
      .reconcile(worked.noting());
  running->start();
  ASSERT_TRUE(eventually([&] { return trace.count("", "foos") > 0; }));

  server.load_yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.)" +
                   group + R"(}
spec:
  group: )" + group +
                   R"(
  names: {kind: Foo, plural: foos, singular: foo}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: )" + group +
                   R"(/v1
kind: Foo
metadata: {name: a, namespace: )" +
                   space + "}");
  EXPECT_TRUE(eventually_with_time([&] { return worked.count(key("a")) == 1; }));
  running->finish();
}

// CF-7
TEST_F(ControllerTest, HasANameOfItsOwn) {
  Manager& manager = make();
  manager.controller<ConfigMap>().reconcile(worked.noting());
  EXPECT_NO_THROW(static_cast<void>(
      counted("controller_runtime_reconcile_errors_total", {{"controller", "configmap"}})));
  EXPECT_THROW(manager.controller<Secret>("configmap").reconcile(worked.noting()),
               std::logic_error);
  EXPECT_NO_THROW(manager.controller<Secret>("configmap")
                      .with_options({.skip_name_validation = true})
                      .reconcile(worked.noting()));
  EXPECT_THROW(manager.controller("")
                   .watches<Secret>([](const Secret&) { return std::vector<Request>{}; })
                   .reconcile(worked.noting()),
               std::logic_error);
}

// CF-8
TEST_F(ControllerTest, FinishesRunningReconcilesAndDropsTheRest) {
  for (const char* name : {"a", "b", "c"}) put(name);
  for (const bool priority_queue : {true, false}) {
    const DoneSignal begun;
    Worked finished;
    make()
        .controller<ConfigMap>("maps")
        .with_options({.priority_queue = priority_queue})
        .reconcile([&](const Request& request, const std::stop_token& stop) {
          begun.fire();
          static_cast<void>(DoneSignal{}.wait(stop));
          finished.note(request.key.name);
          return done();
        });
    running->start();
    ASSERT_TRUE(begun.wait({}));
    EXPECT_EQ(finished.size(), 0U);
    running->finish();
    EXPECT_EQ(finished.size(), 1U);
  }
}

// CF-9, WQ-20, WQ-35: all series exist, with value 0, before anything has happened.
TEST_F(ControllerTest, CountsFromTheStart) {
  Manager& manager = make();
  manager.controller<ConfigMap>("maps").reconcile(worked.noting());
  const std::string text = manager.metrics()->text();
  for (const char* line : {
           R"(controller_runtime_reconcile_total{controller="maps",result="success"} 0)",
           R"(controller_runtime_reconcile_total{controller="maps",result="error"} 0)",
           R"(controller_runtime_reconcile_total{controller="maps",result="requeue"} 0)",
           R"(controller_runtime_reconcile_total{controller="maps",result="requeue_after"} 0)",
           R"(controller_runtime_reconcile_errors_total{controller="maps"} 0)",
           R"(controller_runtime_terminal_reconcile_errors_total{controller="maps"} 0)",
           R"(controller_runtime_reconcile_panics_total{controller="maps"} 0)",
           R"(controller_runtime_reconcile_timeouts_total{controller="maps"} 0)",
           R"(controller_runtime_reconcile_time_seconds_count{controller="maps"} 0)",
           R"(controller_runtime_max_concurrent_reconciles{controller="maps"} 1)",
           R"(controller_runtime_active_workers{controller="maps"} 0)",
           R"(workqueue_adds_total{controller="maps",name="maps"} 0)",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace kube
