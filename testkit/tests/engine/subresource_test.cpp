// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;

constexpr const char* kReplicaSets = "/apis/apps/v1/namespaces/default/replicasets";
const char* const kReplicaSet =
    R"({"metadata":{"name":"r"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},)"
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}})";

// ST-4
TEST(Scale, ReadsAndWritesReplicas) {
  Api api;
  api.post(kReplicaSets, kReplicaSet);
  const std::string path = std::string{kReplicaSets} + "/r/scale";
  const ApiReply read = api.get(path);
  EXPECT_EQ(read.at("kind"), "Scale");
  EXPECT_EQ(read.at("apiVersion"), "autoscaling/v1");
  EXPECT_EQ(read.at("spec.replicas"), "2");
  EXPECT_EQ(read.at("status.replicas"), "0");
  EXPECT_EQ(read.at("status.selector"), "app=x");
  EXPECT_NE(read.at("metadata.uid"), "");

  Value scale = *read.json;
  scale["spec"]["replicas"] = 5;
  EXPECT_EQ(api.put(path, scale).at("spec.replicas"), "5");
  EXPECT_EQ(api.put(path, scale).status(), 409);
  scale["metadata"].erase("resourceVersion");
  scale["spec"]["replicas"] = 6;
  EXPECT_EQ(api.put(path, scale).status(), 200);
  EXPECT_EQ(api.patch(path, R"({"spec":{"replicas":7}})").at("spec.replicas"), "7");
  const ApiReply parent = api.get(std::string{kReplicaSets} + "/r");
  EXPECT_EQ(parent.at("spec.replicas"), "7");
  EXPECT_EQ(parent.at("metadata.generation"), "4");
  EXPECT_EQ(api.patch(path, R"({"spec":{"replicas":-1}})").status(), 422);
  EXPECT_EQ(api.get(std::string{kReplicaSets} + "/none/scale").status(), 404);
}

// ST-4, CD-11
TEST(Scale, WorksForCustomResources) {
  Api api;
  api.make_widgets(
      R"(,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}})");
  api.post(kWidgets,
           R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{}})");
  const std::string path = std::string{kWidgets} + "/w";
  const ApiReply absent = api.get(path + "/scale");
  EXPECT_EQ(absent.status(), 500);
  EXPECT_EQ(absent.reason(), "InternalError");
  EXPECT_THAT(absent.message(),
              HasSubstr("the spec replicas field \".spec.replicas\" does not exist"));
  api.patch(path, R"({"spec":{"replicas":1}})");
  api.patch(path + "/status", R"({"status":{"replicas":1,"selector":"a=b"}})");
  EXPECT_EQ(api.get(path + "/scale").at("status.selector"), "a=b");
  EXPECT_EQ(api.patch(path + "/scale", R"({"spec":{"replicas":4}})").at("spec.replicas"), "4");
  EXPECT_EQ(api.get(path).at("spec.replicas"), "4");
}

// ST-4, SA-7
TEST(Scale, HasNoManagerAfterZero) {
  Api api;
  api.make_widgets(
      R"(,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}})");
  api.post(
      kWidgets,
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"replicas":5}})");
  api.post(kReplicaSets, kReplicaSet);
  for (const std::string& path : {std::string{kWidgets} + "/w", std::string{kReplicaSets} + "/r"}) {
    const auto owners = [&](int replicas) {
      const Value scale =
          Value::object({{"metadata", Value::object({{"name", path.substr(path.size() - 1)}})},
                         {"spec", Value::object({{"replicas", replicas}})}});
      EXPECT_EQ(api.put(path + "/scale?fieldManager=m", scale).status(), 200);
      EXPECT_EQ(api.get(path).at("spec.replicas"), std::to_string(replicas));
      return api.get(path).at("metadata.managedFields");
    };
    EXPECT_THAT(owners(4), HasSubstr("\"f:spec\":{\"f:replicas\":{}}}"));
    for (const int replicas : {0, 0, 3}) {
      EXPECT_THAT(owners(replicas), testing::Not(HasSubstr("f:replicas"))) << path;
    }
  }
}

// ST-4, CR-7
TEST(Scale, PatchesAreCheckedForUnknownFields) {
  Api api;
  api.post(kReplicaSets, kReplicaSet);
  const std::string path = std::string{kReplicaSets} + "/r/scale";
  const char* const patch = R"({"spec":{"bogus":1,"replicas":3}})";
  EXPECT_EQ(api.patch(path, patch).header("Warning"), R"(299 - "unknown field \"spec.bogus\"")");
  EXPECT_EQ(api.patch(path + "?fieldValidation=Ignore", patch).header("Warning"), "");
  const ApiReply strict = api.patch(path + "?fieldValidation=Strict", patch);
  EXPECT_EQ(strict.status(), 422);
  EXPECT_THAT(strict.message(), HasSubstr(R"(unknown field "spec.bogus")"));
}

std::string budget(int allowed, const char* name = "b", int observed = 1,
                   const std::string& policy = "IfHealthyBudget", int healthy = 1) {
  return R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":")" +
         std::string{name} + R"(","generation":1},"spec":{"unhealthyPodEvictionPolicy":")" +
         policy + R"(","selector":{"matchLabels":{"app":"x"}}},"status":{"observedGeneration":)" +
         std::to_string(observed) + R"(,"disruptionsAllowed":)" + std::to_string(allowed) +
         R"(,"currentHealthy":)" + std::to_string(healthy) +
         R"(,"desiredHealthy":1,"expectedPods":1}})";
}

void run_pod(Api& api, const std::string& name, const std::string& ready = "True") {
  api.engine.seed(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
      R"(","labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running",)"
      R"("conditions":[{"type":"Ready","status":")" +
      ready + R"("}]}})");
}

ApiReply evict(Api& api, const std::string& name) {
  return api.post(
      std::string{kPods} + "/" + name + "/eviction",
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name + "\"}}");
}

// DL-11
TEST(Eviction, RespectsThePodDisruptionBudget) {
  Api api;
  run_pod(api, "p");
  api.engine.seed(budget(0));
  const ApiReply refused = evict(api, "p");
  EXPECT_EQ(refused.status(), 429);
  EXPECT_EQ(refused.reason(), "TooManyRequests");
  EXPECT_EQ(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(refused.at("details.causes[0].reason"), "DisruptionBudget");
  EXPECT_EQ(refused.at("details.causes[0].message"),
            "The disruption budget b needs 1 healthy pods and has 1 currently");
  EXPECT_EQ(refused.header("Retry-After"), "");
  api.engine.seed(budget(1, "b", 0));
  const ApiReply early = evict(api, "p");
  EXPECT_EQ(early.header("Retry-After"), "10");
  EXPECT_EQ(early.at("details.causes[0].message"),
            "The disruption budget b is still being processed by the server.");
  api.engine.seed(budget(1));
  api.engine.seed(budget(1, "b2"));
  const ApiReply two = evict(api, "p");
  EXPECT_EQ(two.status(), 500);
  EXPECT_EQ(two.message(),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
  EXPECT_EQ(two.reason(), "");
  api.engine.remove({"policy", "poddisruptionbudgets"}, "default", "b2");
  const ApiReply done = evict(api, "p");
  EXPECT_EQ(done.status(), 201);
  EXPECT_EQ(done.at("status"), "Success");
  EXPECT_EQ(done.at("code"), "201");
  EXPECT_EQ(api.get(std::string{kPods} + "/p").status(), 404);
  const ApiReply spent = api.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b");
  EXPECT_EQ(spent.at("status.disruptionsAllowed"), "0");
  EXPECT_NE(spent.at("status.disruptedPods.p"), "");
  EXPECT_EQ(spent.at("status.conditions[0].reason"), "InsufficientPods");
  run_pod(api, "q");
  EXPECT_EQ(evict(api, "q").status(), 429);  // the budget is used up
  EXPECT_EQ(evict(api, "none").status(), 404);
}

// DL-11
TEST(Eviction, OfAnUnreadyPodCostsNothing) {
  Api api;
  api.engine.seed(budget(0));
  run_pod(api, "p", "False");
  EXPECT_EQ(evict(api, "p").status(), 201) << "enough pods are healthy";
  api.engine.seed(budget(0, "b", 1, "IfHealthyBudget", 0));
  run_pod(api, "q", "False");
  EXPECT_EQ(evict(api, "q").status(), 429);
  api.engine.seed(budget(0, "b", 1, "AlwaysAllow", 0));
  EXPECT_EQ(evict(api, "q").status(), 201);
}

// DL-12
TEST(Eviction, SetsACondition) {
  Api api;
  run_pod(api, "p");
  const std::string path = std::string{kPods} + "/p";
  const ApiReply kept = api.patch(path, R"({"metadata":{"finalizers":["a.b/c"]}})");
  ASSERT_EQ(kept.status(), 200) << kept.text();

  EXPECT_EQ(api.post(path + "/eviction", R"({"metadata":{"name":"p"}})").status(), 201);

  const ApiReply pod = api.get(path);
  EXPECT_NE(pod.at("metadata.deletionTimestamp"), "");
  const Value& conditions = (*pod.json)["status"]["conditions"];
  const Value& last = conditions[conditions.size() - 1];
  EXPECT_EQ(last["type"], Value{"DisruptionTarget"});
  EXPECT_EQ(last["status"], Value{"True"});
  EXPECT_EQ(last["reason"], Value{"EvictionByEvictionAPI"});
  EXPECT_EQ(last["message"], Value{"Eviction API: evicting"});
}

// BK-13
TEST(Logs, AreEmptyAndChecked) {
  Api api;
  api.make_pod("waiting");
  api.make_pod("placed", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/";

  EXPECT_EQ(api.get(path + "waiting/log").status(), 204);
  const ApiReply placed = api.get(path + "placed/log");
  EXPECT_EQ(placed.status(), 200);
  EXPECT_EQ(placed.header("Content-Type"), "text/plain");
  EXPECT_EQ(placed.text(), "");
  EXPECT_EQ(api.get(path + "placed/log?container=c").status(), 200);
  EXPECT_EQ(api.get(path + "placed/log?container=x").message(),
            "container x is not valid for pod placed");
  EXPECT_EQ(
      api.get(path + "placed/log?tailLines=-1").message(),
      "PodLogOptions \"placed\" is invalid: tailLines: Invalid value: -1: must be greater than "
      "or equal to 0");
  EXPECT_EQ(api.get(path + "placed/log?tailLines=x").status(), 400);
  EXPECT_EQ(api.get(path + "none/log").status(), 404);
  api.post(
      kPods,
      R"({"metadata":{"name":"two"},"spec":{"containers":[{"name":"a","image":"a"},{"name":"b","image":"b"}]}})");
  EXPECT_EQ(api.get(path + "two/log").message(),
            "a container name must be specified for pod two, choose one of: [a b]");
}

TEST(Binding, PutsAPodOnANode) {
  Api api;
  api.make_pod("p");
  const std::string body =
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})";
  EXPECT_EQ(api.post(std::string{kPods} + "/p/binding", body).status(), 201);
  EXPECT_EQ(api.get(std::string{kPods} + "/p").at("spec.nodeName"), "n1");
  EXPECT_EQ(api.post("/api/v1/namespaces/default/bindings", body).status(), 409);
  EXPECT_EQ(api.post(std::string{kPods} + "/x/binding", body).status(), 404);
}

TEST(Tokens, AreMadeForServiceAccounts) {
  Api api;
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  api.post(accounts, R"({"metadata":{"name":"s"}})");
  const ApiReply token = api.post(accounts + "/s/token", R"({"spec":{"expirationSeconds":600}})");
  EXPECT_EQ(token.status(), 201);
  EXPECT_NE(token.at("status.token"), "");
  EXPECT_EQ(token.at("status.expirationTimestamp"), "2026-01-01T00:10:00Z");
  EXPECT_EQ(api.post(accounts + "/none/token", "{}").status(), 404);
}

// KU-6
TEST(Reviews, CallTheAuthorizer) {
  Api api{{.tokens = {{"t", {.name = "jane", .uid = "1", .groups = {"dev"}}}},
           .authorize = [](const AccessRequest& access) -> AccessDecision {
             return {access.verb != "delete", "no deletions"};
           }}};
  const std::string reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(api.post(reviews, R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})")
                .at("status.allowed"),
            "true");
  const ApiReply no =
      api.post(reviews, R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}})");
  EXPECT_EQ(no.status(), 201);
  EXPECT_EQ(no.at("status.allowed"), "false");
  EXPECT_EQ(no.at("status.reason"), "no deletions");
  EXPECT_EQ(api.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}",
                     {{"Authorization", "Bearer t"}})
                .at("status.userInfo.username"),
            "jane");
  EXPECT_EQ(api.post("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":"t"}})")
                .at("status.user.username"),
            "jane");
  EXPECT_EQ(api.get(reviews).status(), 405);
}

// ST-4, SA-5
TEST(Scale, IsApplied) {
  Api api;
  api.post(kReplicaSets, kReplicaSet);
  const std::string path = std::string{kReplicaSets} + "/r/scale";
  const std::string three =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"r"},"spec":{"replicas":3}})";
  const std::string type = "apply-patch+yaml";

  EXPECT_EQ(api.patch(path, three, type).status(), 422);  // the field manager is missing
  const ApiReply conflict = api.patch(path + "?fieldManager=m", three, type);
  EXPECT_EQ(conflict.status(), 409);
  EXPECT_EQ(conflict.at("details.causes[0].field"), ".spec.replicas") << conflict.text();
  const ApiReply forced = api.patch(path + "?fieldManager=m&force=true", three, type);

  EXPECT_EQ(forced.status(), 200) << forced.text();
  EXPECT_EQ(forced.at("kind"), "Scale");
  EXPECT_EQ(forced.at("spec.replicas"), "3");
  const ApiReply parent = api.get(std::string{kReplicaSets} + "/r");
  EXPECT_EQ(parent.at("spec.replicas"), "3");
  EXPECT_THAT(parent.text(),
              HasSubstr(R"("manager":"m","operation":"Apply","apiVersion":"apps/v1")"));
  EXPECT_THAT(parent.text(), HasSubstr(R"("subresource":"scale")"));
  EXPECT_EQ(api.patch(path + "?fieldManager=m", R"({"kind":"Pod"})", type).status(), 400);
  EXPECT_EQ(
      api.patch(std::string{kReplicaSets} + "/none/scale?fieldManager=m", three, type).status(),
      404);
}

TEST(Eviction, AcceptsBothVersions) {
  Api api;
  for (const char* version : {"policy/v1", "policy/v1beta1"}) {
    api.make_pod("p");
    const ApiReply evicted = api.post(std::string{kPods} + "/p/eviction",
                                      std::string{R"({"kind":"Eviction","apiVersion":")"} +
                                          version + R"(","metadata":{"name":"p"}})");
    EXPECT_EQ(evicted.status(), 201) << evicted.text();
    EXPECT_EQ(api.get(std::string{kPods} + "/p").status(), 404);
  }
}

}  // namespace
}  // namespace kube::testkit::detail
