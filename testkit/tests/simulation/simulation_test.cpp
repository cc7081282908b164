// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/testkit/api_server.hpp>

#include <kube/testkit/fake_clock.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <set>

// BK-4, BK-5, SM-1: without the option, no controllers are simulated.
namespace kube::testkit {
namespace {

using namespace std::chrono_literals;
using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using core::v1::Pod;

constexpr std::string_view kDeployments = "/apis/apps/v1/namespaces/default/deployments";
constexpr std::string_view kWeb = "/apis/apps/v1/namespaces/default/deployments/web";
constexpr std::string_view kMergePatch = "application/merge-patch+json";

Value deployment(int replicas) {
  return *decode_json<Value>(fmt::format(
      R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}},"spec":{{"replicas":{},
          "selector":{{"matchLabels":{{"app":"web"}}}},"template":{{"metadata":{{"labels":{{"app":"web"}}}},
          "spec":{{"containers":[{{"name":"web","image":"nginx:1.29"}}]}}}}}}}})",
      replicas));
}

Value replicas(int count) {
  return Value::object({{"spec", Value::object({{"replicas", count}})}});
}

std::size_t running(const ApiServer& server) {
  std::size_t count = 0;
  for (const Ref<Value>& pod : server.list({"", "pods"}, "default")) {
    if (pod->get_string("status.phase") == "Running" &&
        !pod->get_string("metadata.deletionTimestamp")) {
      ++count;
    }
  }
  return count;
}

bool is_rolled_out(const ApiServer& server, int count) {
  const Ref<Deployment> web = server.find<Deployment>("default", "web");
  return web && web->status.ready_replicas == count && web->status.replicas == count &&
         web->status.observed_generation == web->metadata.generation;
}

// SM-2, SM-9, SM-10
TEST(Simulation, MakesPodsOfADeploymentAndRunsThem) {
  ApiServer server{{.simulate = true}};

  server.request("POST", kDeployments, deployment(3));

  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 3); }));
  EXPECT_EQ(server.count<ReplicaSet>("default"), 1U);
  EXPECT_EQ(running(server), 3U);
  const Ref<Value> pod = server.list({"", "pods"}, "default").front();
  EXPECT_FALSE(pod->get_string("spec.nodeName").value_or("").empty());
  EXPECT_FALSE(pod->get_string("status.podIP").value_or("").empty());
}

TEST(Simulation, ScalesUpAndDown) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(1));
  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 1); }));

  server.request("PATCH", kWeb, replicas(5), kMergePatch);
  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 5); }));
  server.request("PATCH", kWeb, replicas(2), kMergePatch);
  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 2); }));

  EXPECT_TRUE(server.wait_for([&] { return server.count<Pod>("default") == 2; }));
}

TEST(Simulation, ReplacesPodsWhenTheTemplateChanges) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(2));
  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 2); }));

  server.request("PATCH", kWeb, *decode_json<Value>(R"({"spec":{"template":{"spec":{"containers":
                     [{"name":"web","image":"nginx:1.30"}]}}}})"),
                 "application/strategic-merge-patch+json");

  EXPECT_TRUE(server.wait_for([&] {
    const auto pods = server.list({"", "pods"}, "default");
    return is_rolled_out(server, 2) && pods.size() == 2 &&
           std::ranges::all_of(pods, [](const Ref<Value>& pod) {
             return pod->get_string("spec.containers[0].image") == "nginx:1.30";
           });
  }));
  EXPECT_EQ(server.count<ReplicaSet>("default"), 2U);
}

TEST(Simulation, ReplacesAPodThatIsDeleted) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(1));
  ASSERT_TRUE(server.wait_for([&] { return is_rolled_out(server, 1); }));
  const Ref<Value> pod = server.list({"", "pods"}, "default").front();
  const std::string name{*pod->get_string("metadata.name")};

  server.request("DELETE", "/api/v1/namespaces/default/pods/" + name);

  EXPECT_TRUE(server.wait_for([&] {
    return !server.find<Pod>("default", name) && running(server) == 1 && is_rolled_out(server, 1);
  }));
}

TEST(Simulation, RunsPodsThatNobodyOwns) {
  ApiServer server{{.simulate = true}};

  server.request("POST", "/api/v1/namespaces/default/pods",
                 *decode_json<Value>(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"alone"},
                     "spec":{"containers":[{"name":"c","image":"i"}]}})"));

  EXPECT_TRUE(server.wait_for([&] { return running(server) == 1; }));
}

// DL-8, DL-10
TEST(Simulation, DeletesDependentsWithOwnerAndNamespace) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(2));
  server.request(
      "POST", "/api/v1/namespaces",
      *decode_json<Value>(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})"));
  server.request("POST", "/apis/apps/v1/namespaces/team/deployments", deployment(2));
  ASSERT_TRUE(server.wait_for([&] { return server.count<Pod>() == 4; }));

  server.request("DELETE", kWeb);
  server.request("DELETE", "/api/v1/namespaces/team");

  EXPECT_TRUE(server.wait_for([&] {
    return server.count<Pod>() == 0 && server.count<ReplicaSet>() == 0 &&
           !server.find({"", "namespaces"}, "", "team");
  }));
}

TEST(Simulation, SettlesOnceThereIsNothingToDo) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(3));

  ASSERT_TRUE(server.settle());

  EXPECT_TRUE(is_rolled_out(server, 3));
}

TEST(Simulation, IsOffByDefault) {
  ApiServer server;

  server.request("POST", kDeployments, deployment(3));

  EXPECT_TRUE(server.settle());
  EXPECT_EQ(server.count<Pod>(), 0U);
}

// SM-1
TEST(Simulation, ResumesAfterARestart) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(2));
  ASSERT_TRUE(server.settle());

  server.restart();
  server.request("PATCH", kWeb, replicas(3), kMergePatch);
  ASSERT_TRUE(server.settle());
  EXPECT_TRUE(is_rolled_out(server, 3));
  server.restart(ApiServer::State::kForget);
  server.request("POST", kDeployments, deployment(1));
  ASSERT_TRUE(server.settle());

  EXPECT_TRUE(is_rolled_out(server, 1));
  EXPECT_EQ(running(server), 1U);
}

// SM-1
TEST(Simulation, ResumesFromADataFile) {
  const std::filesystem::path file =
      std::filesystem::path{::testing::TempDir()} / fmt::format("simulation-{}.db", getpid());
  FakeClock clock;
  {
    ApiServer server{{.clock = &clock, .simulate = true, .data = file}};
    Value slow = deployment(2);
    slow.at_path("spec.minReadySeconds") = 30;
    server.request("POST", kDeployments, slow);
    ASSERT_TRUE(server.settle());
    server.request("PATCH", "/api/v1/nodes/kubecxx-node",
                   *decode_json<Value>(R"({"spec":{"unschedulable":true}})"), kMergePatch);
    ASSERT_TRUE(server.settle());
  }
  {
    ApiServer server{{.clock = &clock, .simulate = true, .data = file}};
    clock.advance(30s);
    ASSERT_TRUE(server.settle());

    const Ref<Deployment> web = server.find<Deployment>("default", "web");
    EXPECT_EQ(web->status.available_replicas, 2);
    EXPECT_EQ(server.find<core::v1::Node>("", "kubecxx-node")->spec.unschedulable, true);
  }
  std::filesystem::remove(file);
}

// SM-1
TEST(Simulation, WritesAsTheComponentsOfACluster) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(1));
  ASSERT_TRUE(server.settle());

  const std::vector<Ref<Value>> pods = server.list({"", "pods"}, "default");
  ASSERT_EQ(pods.size(), 1);
  std::set<std::string> managers;
  for (const Value& entry : pods.front()->get_array("metadata.managedFields")) {
    managers.insert(std::string{entry.get_string("manager").value_or("")});
  }

  EXPECT_EQ(managers, (std::set<std::string>{"kube-controller-manager", "kubelet"}));
}

// SM-1: concurrent writes by clients delay the controllers, but do not stop them.
TEST(Simulation, SettlesDespiteConcurrentClientWrites) {
  ApiServer server{{.simulate = true}};
  server.request("POST", kDeployments, deployment(2));

  for (int i = 0; i < 40; ++i) {
    server.request(
        "PATCH", kWeb,
        *decode_json<Value>(fmt::format(
            R"({{"metadata":{{"annotations":{{"turn":"{}"}}}},"spec":{{"replicas":{}}}}})", i,
            1 + i % 3)),
        kMergePatch);
  }

  ASSERT_TRUE(server.settle());
  EXPECT_TRUE(is_rolled_out(server, 1));
  EXPECT_EQ(running(server), 1U);
}

// AD-7, AD-8, SM-9
TEST(Simulation, ReportsRejectedPodsAndRetriesWhenQuotaIsFree) {
  ApiServer server{{.simulate = true}};
  const Value quota = *decode_json<Value>(
      R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"few"},"spec":{"hard":{"pods":"1"}}})");
  server.request("POST", "/api/v1/namespaces/default/resourcequotas", quota);

  server.request("POST", kDeployments, deployment(2));

  const auto failure = [&]() -> std::string {
    for (const Ref<Value>& set : server.list({"apps", "replicasets"}, "default")) {
      for (const Value& condition : set->get_array("status.conditions")) {
        return std::string{condition.get_string("message").value_or("")};
      }
    }
    return {};
  };
  ASSERT_TRUE(server.wait_for([&] { return !failure().empty(); }));
  EXPECT_NE(failure().find("exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1"),
            std::string::npos)
      << failure();
  EXPECT_EQ(server.count<Pod>("default"), 1U);
  server.request("PATCH", "/api/v1/namespaces/default/resourcequotas/few",
                 *decode_json<Value>(R"({"spec":{"hard":{"pods":"2"}}})"), kMergePatch);

  EXPECT_TRUE(server.wait_for([&] { return is_rolled_out(server, 2); }));
  EXPECT_EQ(failure(), "");
}

}  // namespace
}  // namespace kube::testkit
