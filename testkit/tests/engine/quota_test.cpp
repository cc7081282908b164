// SPDX-License-Identifier: Apache-2.0
// The usage in resource quotas, which another component maintains in a real cluster. The parity
// tests cover error texts.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

constexpr const char* kQuotas = "/api/v1/namespaces/default/resourcequotas";

class QuotaApi : public Api {
 public:
  using Api::Api;

  ApiReply limit(const std::string& hard, const std::string& more = "") {
    return post(kQuotas, R"({"metadata":{"name":"q"},"spec":{"hard":{)" + hard + "}" + more + "}}");
  }
  std::string used(const std::string& name = "q") {
    return get(std::string{kQuotas} + '/' + name).at("status.used");
  }
};

// AD-8
TEST(QuotaCounts, IncludeExistingObjects) {
  QuotaApi api;
  api.make_config_map("a");
  api.make_pod("p");

  api.limit(R"("configmaps":"5","pods":"2","count/pods":"2","resourcequotas":"3","secrets":"1")");

  EXPECT_EQ(api.used(),
            R"({"configmaps":"1","count/pods":"1","pods":"1","resourcequotas":"1","secrets":"0"})");
  EXPECT_EQ(api.get(std::string{kQuotas} + "/q").at("status.hard.configmaps"), "5");
}

// AD-8
TEST(QuotaCounts, FollowCreationAndDeletion) {
  QuotaApi api;
  api.limit(R"("configmaps":"2")");

  api.make_config_map("a");
  api.make_config_map("b");
  EXPECT_EQ(api.used(), R"({"configmaps":"2"})");
  EXPECT_EQ(api.make_config_map("c").status(), 403);
  EXPECT_EQ(api.remove(std::string{kConfigMaps} + "/a").status(), 200);
  EXPECT_EQ(api.used(), R"({"configmaps":"1"})");
  EXPECT_EQ(api.make_config_map("c").status(), 201);
  EXPECT_EQ(api.remove(kConfigMaps).status(), 200);

  EXPECT_EQ(api.used(), R"({"configmaps":"0"})");
}

// AD-8
TEST(QuotaCounts, FollowPodsThatEnd) {
  QuotaApi api;
  api.limit(R"("pods":"1","count/pods":"3")");
  api.make_pod("a");

  EXPECT_EQ(api.make_pod("b").status(), 403);
  EXPECT_EQ(
      api.patch(std::string{kPods} + "/a/status", R"({"status":{"phase":"Succeeded"}})").status(),
      200);

  EXPECT_EQ(api.used(), R"({"count/pods":"1","pods":"0"})");
  EXPECT_EQ(api.make_pod("b").status(), 201);
}

// AD-8
TEST(QuotaCounts, FollowChangesOfAnObject) {
  QuotaApi api;
  const std::string services = "/api/v1/namespaces/default/services";
  api.limit(R"("services.nodeports":"1")");
  api.post(services, R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  EXPECT_EQ(api.used(), R"({"services.nodeports":"0"})");

  EXPECT_EQ(api.patch(services + "/s", R"({"spec":{"type":"NodePort"}})").status(), 200);
  EXPECT_EQ(api.used(), R"({"services.nodeports":"1"})");
  const ApiReply more = api.patch(
      services + "/s", R"({"spec":{"ports":[{"name":"a","port":80},{"name":"b","port":81}]}})");

  EXPECT_EQ(more.status(), 403);
  EXPECT_EQ(more.message(),
            "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=1, "
            "used: services.nodeports=1, limited: services.nodeports=1");
}

// AD-8
TEST(QuotaCounts, FollowChangesOfTheQuota) {
  QuotaApi api;
  api.make_config_map("a");
  api.limit(R"("secrets":"1")");

  EXPECT_EQ(api.patch(std::string{kQuotas} + "/q",
                      R"({"spec":{"hard":{"secrets":null,"configmaps":"1"}}})")
                .status(),
            200);

  EXPECT_EQ(api.used(), R"({"configmaps":"1"})");
  EXPECT_EQ(api.make_config_map("b").status(), 403);
}

// AD-8
TEST(QuotaCounts, EndWithTheLastLimit) {
  QuotaApi api;
  api.limit(R"("configmaps":"0")");
  ASSERT_EQ(api.make_config_map("a").status(), 403);

  api.patch(std::string{kQuotas} + "/q", R"({"spec":{"hard":null}})");

  EXPECT_EQ(api.make_config_map("a").status(), 201);
}

// A test may store a status with an arbitrary usage.
TEST(QuotaCounts, KeepASeededStatus) {
  QuotaApi api;
  api.engine.seed(
      R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},)"
      R"("status":{"hard":{"pods":"10"},"used":{"pods":"3"}}})");

  api.make_config_map("a");

  EXPECT_EQ(api.used(), R"({"pods":"3"})");
}

// AD-8
TEST(QuotaCounts, CoverOneNamespace) {
  QuotaApi api;
  api.limit(R"("configmaps":"0")");

  EXPECT_EQ(api.make_config_map("a").status(), 403);
  EXPECT_EQ(api.make_config_map("a", "kube-system").status(), 201);

  EXPECT_EQ(api.used(), R"({"configmaps":"0"})");
}

// AD-7
TEST(QuotaCounts, AreUnchangedByADryRun) {
  QuotaApi api;
  api.limit(R"("configmaps":"1")");
  const std::string dry = std::string{kConfigMaps} + "?dryRun=All";

  EXPECT_EQ(api.post(dry, R"({"metadata":{"name":"a"}})").status(), 201);
  EXPECT_EQ(api.used(), R"({"configmaps":"0"})");
  api.make_config_map("a");

  EXPECT_EQ(api.post(dry, R"({"metadata":{"name":"b"}})").status(), 403);
}

// AD-7
TEST(QuotaCounts, IncludeCustomResources) {
  QuotaApi api;
  api.make_widgets();
  api.limit(R"("count/widgets.example.com":"1")");

  const std::string type = R"({"apiVersion":"example.com/v1","kind":"Widget",)";

  EXPECT_EQ(api.post(kWidgets, type + R"("metadata":{"name":"a"}})").status(), 201);
  const ApiReply second = api.post(kWidgets, type + R"("metadata":{"name":"b"}})");

  EXPECT_EQ(second.status(), 403);
  EXPECT_THAT(second.message(), testing::StartsWith("widgets.example.com \"b\" is forbidden: "
                                                    "exceeded quota: q"));
}

// AD-8
TEST(QuotaCounts, SurviveARestart) {
  QuotaApi api;
  api.limit(R"("configmaps":"2")");
  api.make_config_map("a");

  api.engine.import_objects(api.engine.export_objects(), api.engine.revision());

  EXPECT_EQ(api.used(), R"({"configmaps":"1"})");
}

// AD-8: concurrent requests cannot exceed a quota.
TEST(QuotaCounts, AreNotExceededByConcurrentRequests) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  QuotaApi api;
  api.limit(R"("configmaps":"30")");
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;

  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          const int status =
              api.make_config_map("m" + std::to_string(t) + '-' + std::to_string(i)).status();
          ++(status == 201 ? made : refused);
        }
      });
    }
  }

  EXPECT_EQ(made, 30);
  EXPECT_EQ(refused, kThreads * kEach - 30);
  EXPECT_EQ(api.used(), R"({"configmaps":"30"})");
}

// AD-8: the usage is correct regardless of the order in which quota and objects are created.
TEST(QuotaCounts, IncludeObjectsCreatedConcurrentlyWithTheQuota) {
  constexpr int kThreads = 3;
  constexpr int kEach = 20;
  QuotaApi api;

  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          api.make_config_map("m" + std::to_string(t) + '-' + std::to_string(i));
        }
      });
    }
    threads.emplace_back([&] { api.limit(R"("configmaps":"1000")"); });
  }

  EXPECT_EQ(api.used(), R"({"configmaps":"60"})");
}

}  // namespace
}  // namespace kube::testkit::detail
