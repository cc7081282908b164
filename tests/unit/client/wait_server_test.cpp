// SPDX-License-Identifier: Apache-2.0
// Waiting for objects of an API server with full semantics, in-process or real.
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/wait.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/testkit/fake_clock.hpp>

#include "async_fixture.hpp"
#include "support/request_trace.hpp"
#include "support/test_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {
namespace {

using namespace std::chrono_literals;
using apps::v1::Deployment;
using core::v1::ConfigMap;
using TracedRequest = testing_support::RequestTrace::Request;

bool is_green(const ConfigMap& map) {
  const String* const color = map.data.find("color");
  return color != nullptr && *color == "green";
}

struct WaitServerTest : testing::Test {
  ConfigMap map(const std::string& color) const {
    return {.metadata = {.name = "a", .namespace_ = space}, .data = {{"color", color}}};
  }
  /// Waits in another thread for the map to be green.
  std::future<Ref<ConfigMap>> wait_for_green() const {
    return std::async(std::launch::async, [this] { return wait_until(maps, "a", is_green, 60s); });
  }
  /// Returns once clients have opened that many watches.
  void expect_watches(std::size_t count) const {
    EXPECT_TRUE(server.wait_for([&] {
      const auto watches = trace.all("watch", "configmaps");
      return static_cast<std::size_t>(std::ranges::count(watches, 200, &TracedRequest::status)) >=
             count;
    }));
  }

  testing_support::TestServer server;
  testing_support::RequestTrace trace;
  const Client client{server.config(), trace.following({})};
  const std::string space = server.space();
  const Resource<ConfigMap> maps = client.resource<ConfigMap>(space);
};

// WU-1
TEST_F(WaitServerTest, SeesAnObjectThatIsCreatedAndChangedLater) {
  auto green = wait_for_green();
  server.create(map("red"));
  server.create(map("green"));
  EXPECT_TRUE(is_green(*green.get()));
  EXPECT_TRUE(is_green(*wait_until(maps, "a", is_green, 60s))) << "it is so already";
}

// WU-2
TEST_F(WaitServerTest, GoesOnAfterBrokenConnections) {
  server.create(map("red"));
  auto green = wait_for_green();
  expect_watches(1);
  server.end_watches();
  expect_watches(2);
  server.drop_connections();
  server.create(map("green"));
  EXPECT_TRUE(is_green(*green.get()));
}

// WU-2
TEST_F(WaitServerTest, GoesOnAfterTheHistoryIsLost) {
  server.create(map("red"));
  auto green = wait_for_green();
  expect_watches(1);
  server.stop();
  server.create(map("yellow"));
  server.create(map("green"));
  server.forget_history();
  server.start();
  EXPECT_TRUE(is_green(*green.get()));
}

// WU-2
TEST_F(WaitServerTest, GoesOnAfterARestart) {
  server.create(map("red"));
  auto green = wait_for_green();
  expect_watches(1);
  server.restart();
  server.create(map("green"));
  EXPECT_TRUE(is_green(*green.get()));
}

// WU-2
TEST_F(WaitServerTest, EndsAtOnceWithoutPermission) {
  const Client alice{server.config_for("alice")};
  try {
    wait_until(alice.resource<ConfigMap>(space), "a", is_green, 60s);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_forbidden(error)) << error.what();
  }
}

// WU-3
TEST_F(WaitServerTest, EndsInTimeWithTheLastState) {
  testkit::FakeClock clock;
  const Client timed{server.config(), trace.following({.clock = &clock})};
  auto ended = std::async(std::launch::async, [&]() -> std::string {
    try {
      wait_until(timed.resource<ConfigMap>(space), "a", is_green, 90s);
    } catch (const WaitTimeoutError& error) {
      return error.last_state();
    }
    return "no error";
  });
  const auto is_over = [&] { return ended.wait_for(0s) == std::future_status::ready; };
  expect_watches(1);
  EXPECT_TRUE(clock.advance_until(is_over));
  EXPECT_EQ(ended.get(), "does not exist");
}

// WU-3: neither the list nor the watch is answered.
TEST_F(WaitServerTest, EndsInTimeIfTheServerIsSilent) {
  testkit::FakeClock clock;
  const Client timed{server.config(), trace.following({.clock = &clock})};
  server.go_silent();
  auto ended = std::async(std::launch::async, [&]() -> std::string {
    try {
      wait_until(timed.resource<ConfigMap>(space), "a", is_green, 5s);
    } catch (const WaitTimeoutError& error) {
      return error.last_state();
    }
    return "no error";
  });
  EXPECT_TRUE(clock.advance_until([&] { return ended.wait_for(0s) == std::future_status::ready; }));
  EXPECT_EQ(ended.get(), "unknown");
}

// WU-4
TEST_F(WaitServerTest, WaitsForAConditionOfTheCurrentGeneration) {
  const auto deployments = client.resource<Deployment>(space);
  Deployment web{.metadata = {.name = "web"},
                 .spec = {.replicas = 1, .selector = {{.match_labels = {{"app", "web"}}}}}};
  web.spec.template_.metadata.labels = {{"app", "web"}};
  web.spec.template_.spec.containers.push_back({.name = "main", .image = "nginx"});
  auto available = std::async(
      std::launch::async, [&] { return wait_for_condition(deployments, "web", "Available", 60s); });
  web = *deployments.create(web);
  web.spec.replicas = 2;
  web = *deployments.update(web);
  const auto report = [&](std::int64_t generation) {
    web.status.observed_generation = generation;
    web.status.conditions = {{.type = "Available", .status = "True"}};
    web = *deployments.update_status(web);
  };
  report(1);
  report(2);
  const Ref<Deployment> seen = available.get();
  EXPECT_EQ(seen->status.observed_generation, 2);
  EXPECT_EQ(seen->metadata.generation, 2);
}

// WU-5
TEST_F(WaitServerTest, WaitsUntilFinalizersAreRemoved) {
  ConfigMap held = map("red");
  held.metadata.finalizers = {"example.com/held"};
  const std::string uid = maps.create(held)->metadata.uid.str();
  maps.delete_("a");
  auto gone = std::async(std::launch::async, [&] { wait_for_deletion(maps, "a", 60s, uid); });
  expect_watches(1);
  maps.patch("a", PatchType::kMerge, R"({"metadata":{"finalizers":null}})");
  gone.get();
  EXPECT_EQ(maps.find("a"), nullptr);
}

// WU-6
TEST_F(WaitServerTest, EndsAsCanceledAfterAStop) {
  std::stop_source stop;
  auto ended = std::async(std::launch::async, [&] {
    try {
      wait_until(maps, "a", is_green, 60s, stop.get_token());
    } catch (const TransportError& error) {
      return error.kind();
    }
    return TransportError::Kind::kProtocol;
  });
  expect_watches(1);
  stop.request_stop();
  EXPECT_EQ(ended.get(), TransportError::Kind::kCanceled);
}

// WU-7: without any thread but this one.
TEST_F(WaitServerTest, WaitsWithoutAThread) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const Client looped{server.config(), {.runtime = runtime}};
  const auto outcome = std::make_shared<test::Outcome<Ref<ConfigMap>>>();
  auto task = wait_until_async(looped.resource<ConfigMap>(space), "a", is_green, 60s);
  const DoneSignal done = spawn(*runtime, test::keep(std::move(task), outcome));
  bool is_created = false;
  EXPECT_TRUE(server.wait_for([&] {
    runtime->loop().run_ready();
    if (!std::exchange(is_created, true)) server.create(map("green"));
    return done.done();
  }));
  ASSERT_TRUE(outcome->value) << outcome->error;
  EXPECT_TRUE(is_green(**outcome->value));
}

// WU-1: a kind that is defined later.
TEST_F(WaitServerTest, WaitsForAKindThatIsNotServedYet) {
  const std::string group = space + ".example.com";
  const Resource<Value> things = client.dynamic({group, "v1", "things"}, space);
  auto seen = std::async(std::launch::async, [&] {
    return wait_until(
        things, "a", [](const Value&) { return true; }, 60s);
  });
  EXPECT_TRUE(server.wait_for([&] { return trace.count("list", "things") >= 1; }));
  server.load_yaml(
      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
      "metadata: {name: things." +
      group +
      "}\n"
      "spec:\n"
      "  group: " +
      group +
      "\n"
      "  scope: Namespaced\n"
      "  names: {plural: things, kind: Thing}\n"
      "  versions:\n"
      "  - name: v1\n"
      "    served: true\n"
      "    storage: true\n"
      "    schema: {openAPIV3Schema: {type: object}}\n");
  things.create(Value::object({{"apiVersion", group + "/v1"},
                               {"kind", "Thing"},
                               {"metadata", Value::object({{"name", "a"}})}}));
  EXPECT_NE(seen.get(), nullptr);
}

}  // namespace
}  // namespace kube
