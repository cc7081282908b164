// SPDX-License-Identifier: Apache-2.0
// The verbs delete and deletecollection, namespaces and garbage collection.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// DL-3
TEST(Delete, AnswersWithStatusOrObject) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  const ApiReply gone = api.remove(std::string{kConfigMaps} + "/a");
  EXPECT_EQ(gone.status(), 200);
  EXPECT_EQ(
      gone.text(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":")" +
          made.at("metadata.uid") + "\"}}\n");
  EXPECT_EQ(api.remove(std::string{kConfigMaps} + "/a").status(), 404);

  api.make_pod("p");
  const ApiReply pod = api.remove(std::string{kPods} + "/p");
  EXPECT_EQ(pod.at("kind"), "Pod");
  EXPECT_EQ(pod.at("metadata.deletionGracePeriodSeconds"), "0");
  EXPECT_NE(pod.at("metadata.deletionTimestamp"), "");
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  api.post(accounts, R"({"metadata":{"name":"s"}})");
  const ApiReply account = api.remove(accounts + "/s");
  EXPECT_EQ(account.at("kind"), "ServiceAccount");
  EXPECT_EQ(account.at("metadata.deletionTimestamp"), "");
}

// DL-1
TEST(Delete, ReadsItsOptions) {
  Api api;
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  const ApiReply both =
      api.remove(path, R"({"propagationPolicy":"Orphan","orphanDependents":true})");
  EXPECT_EQ(both.status(), 422);
  EXPECT_EQ(both.at("details.kind"), "DeleteOptions");
  EXPECT_EQ(api.remove(path, R"({"propagationPolicy":"Sideways"})").status(), 422);
  EXPECT_EQ(api.remove(path + "?propagationPolicy=Sideways").status(), 422);
  EXPECT_EQ(api.remove(path, "{").status(), 400);
  EXPECT_EQ(api.remove(path + "?dryRun=All").status(), 200);
  EXPECT_EQ(api.get(path).status(), 200);
  // With a body, the query is ignored.
  EXPECT_EQ(
      api.remove(path + "?dryRun=All", R"({"kind":"DeleteOptions","apiVersion":"v1"})").status(),
      200);
  EXPECT_EQ(api.get(path).status(), 404);
}

// DL-2
TEST(Delete, ChecksPreconditions) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  const ApiReply uid = api.remove(path, R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(uid.status(), 409);
  EXPECT_EQ(uid.message(),
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) "
            "does not match the UID in record (" +
                made.at("metadata.uid") +
                "). The object might have been deleted and then recreated");
  EXPECT_EQ(uid.at("details.kind"), "ConfigMap");
  const ApiReply version = api.remove(path, R"({"preconditions":{"resourceVersion":"1"}})");
  EXPECT_EQ(version.status(), 409);
  EXPECT_THAT(version.message(), HasSubstr("The object might have been modified"));
  EXPECT_EQ(
      api.remove(path, R"({"preconditions":{"uid":")" + made.at("metadata.uid") + "\"}}").status(),
      200);
}

// DL-4, DL-6
TEST(Delete, WaitsForFinalizers) {
  Api api;
  api.post(kConfigMaps, R"({"metadata":{"name":"a","generation":4,"finalizers":["x.io/a"]}})");
  const std::string path = std::string{kConfigMaps} + "/a";
  const ApiReply marked = api.remove(path);
  EXPECT_EQ(marked.status(), 200);
  EXPECT_EQ(marked.at("metadata.deletionTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(marked.at("metadata.deletionGracePeriodSeconds"), "0");
  EXPECT_EQ(marked.at("metadata.generation"), "5");
  const std::uint64_t revision = api.engine.revision();
  EXPECT_EQ(api.remove(path).status(), 200);
  EXPECT_EQ(api.engine.revision(), revision);
  EXPECT_EQ(api.remove(path, R"({"orphanDependents":false})").status(), 202);
}

// DL-5
TEST(Delete, PoliciesAreFinalizers) {
  Api api;
  const auto finalizer = [&](const std::string& policy) {
    api.make_config_map("a");
    const ApiReply reply = api.remove(std::string{kConfigMaps} + "/a", policy);
    const std::string found = reply.at("metadata.finalizers[0]");
    if (!found.empty()) {  // Background after another policy deletes at once
      EXPECT_EQ(api.remove(std::string{kConfigMaps} + "/a", R"({"propagationPolicy":"Background"})")
                    .at("status"),
                "Success");
    }
    return found;
  };
  EXPECT_EQ(finalizer(R"({"propagationPolicy":"Foreground"})"), "foregroundDeletion");
  EXPECT_EQ(finalizer(R"({"propagationPolicy":"Orphan"})"), "orphan");
  EXPECT_EQ(finalizer(R"({"propagationPolicy":"Background"})"), "");
  EXPECT_EQ(finalizer(R"({"orphanDependents":true})"), "orphan");

  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs";
  api.post(
      jobs,
      R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(api.remove(jobs + "/j").at("metadata.finalizers[0]"), "orphan");
}

// DL-7
TEST(Delete, PodsHaveAGracePeriod) {
  Api api;
  api.make_pod("p", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/p";
  const ApiReply first = api.remove(path);
  EXPECT_EQ(first.status(), 200);
  EXPECT_EQ(first.at("metadata.deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(first.at("metadata.deletionTimestamp"), "2026-01-01T00:00:30Z");
  const std::uint64_t revision = api.engine.revision();
  EXPECT_EQ(
      api.remove(path, R"({"gracePeriodSeconds":60})").at("metadata.deletionGracePeriodSeconds"),
      "30");
  EXPECT_EQ(api.engine.revision(), revision);
  api.clock.advance(2s);
  const ApiReply shorter = api.remove(path, R"({"gracePeriodSeconds":5})");
  EXPECT_EQ(shorter.at("metadata.deletionGracePeriodSeconds"), "5");
  EXPECT_EQ(shorter.at("metadata.deletionTimestamp"), "2026-01-01T00:00:05Z");
  EXPECT_EQ(shorter.at("metadata.generation"), first.at("metadata.generation"));
  api.remove(path, R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(api.get(path).status(), 404);

  api.make_pod("unbound");
  api.remove(std::string{kPods} + "/unbound");
  EXPECT_EQ(api.get(std::string{kPods} + "/unbound").status(), 404);
}

// DL-5, DL-7
TEST(Delete, GracePeriodCanBeShortenedTogetherWithThePolicy) {
  Api api;
  api.make_pod("p", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/p";
  api.remove(path);
  const std::string foreground = R"({"propagationPolicy":"Foreground","gracePeriodSeconds":)";
  EXPECT_EQ(api.remove(path, foreground + "30}").at("metadata.finalizers"), "");
  EXPECT_EQ(api.remove(path, foreground + "5}").at("metadata.finalizers[0]"), "foregroundDeletion");
}

// DL-7
TEST(Delete, RunningGracePeriodIsChangedOnlyByAShorterOne) {
  Api api;
  api.make_pod("p", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/p";
  api.remove(path);
  api.patch(path + "/status", R"({"status":{"phase":"Succeeded"}})");
  const ApiReply again = api.remove(path, R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(again.at("metadata.deletionGracePeriodSeconds"), "30");
  EXPECT_EQ(again.at("metadata.finalizers"), "");
  // A shorter grace period that is already over still leaves one second, so that watches see the
  // change.
  api.clock.advance(20s);
  const ApiReply late = api.remove(path, R"({"gracePeriodSeconds":10})");
  EXPECT_EQ(late.at("metadata.deletionGracePeriodSeconds"), "1");
  EXPECT_EQ(late.at("metadata.deletionTimestamp"), "2026-01-01T00:00:20Z");
}

// UP-5
TEST(Delete, UpdatesCannotChangeTheDeletionTimestamp) {
  Api api;
  api.make_pod("p", R"("nodeName":"n",)");
  const std::string path = std::string{kPods} + "/p";
  api.remove(path);
  const ApiReply put =
      api.patch(path, R"({"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}})");
  EXPECT_EQ(put.status(), 200);
  EXPECT_EQ(put.at("metadata.deletionTimestamp"), "2026-01-01T00:00:30Z");
}

// DL-5
TEST(Delete, DryRunThatRemovesTheLastFinalizerReturnsAnEmptyObject) {
  Api api;
  api.make_pod("p");
  api.make_config_map("a");
  for (const auto& [path, kind] : {std::pair{std::string{kPods} + "/p", "Pod"},
                                   {std::string{kConfigMaps} + "/a", "ConfigMap"}}) {
    api.remove(path, R"({"propagationPolicy":"Foreground"})");
    const ApiReply dry = api.remove(path + "?propagationPolicy=Background&dryRun=All");
    EXPECT_EQ(dry.status(), 200);
    EXPECT_EQ(dry.at("kind"), kind);
    EXPECT_EQ(dry.at("metadata"), "{}");
    EXPECT_EQ(api.get(path).at("metadata.finalizers[0]"), "foregroundDeletion");
  }
}

// DL-9
TEST(DeleteCollection, DeletesSelectedObjects) {
  Api api;
  api.make_config_map("a", "default", R"({"k":"v"})");
  api.make_config_map("b", "default", R"({"k":"v"})");
  api.make_config_map("c");
  const ApiReply reply = api.remove(std::string{kConfigMaps} + "?labelSelector=k&limit=1");
  EXPECT_EQ(reply.status(), 200);
  EXPECT_THAT(reply.names(), ElementsAre("a"));
  EXPECT_NE(reply.at("metadata.continue"), "");
  EXPECT_THAT(api.get(kConfigMaps).names(), ElementsAre("b", "c"));
  api.remove(kConfigMaps);
  EXPECT_THAT(api.get(kConfigMaps).names(), IsEmpty());
  // The selector is validated before the options.
  const std::string bad = "?fieldSelector=bogus%3D1&propagationPolicy=bogus";
  EXPECT_EQ(api.remove(kConfigMaps + bad).status(), 400);
}

// DL-10, BK-1, RQ-3
TEST(Namespaces, AreEmptiedAndDeleted) {
  Api api;
  EXPECT_THAT(api.get("/api/v1/namespaces").names(),
              ElementsAre("default", "kube-node-lease", "kube-public", "kube-system"));
  const ApiReply made =
      api.post("/api/v1/namespaces", R"({"metadata":{"name":"n","finalizers":[]}})");
  EXPECT_EQ(made.at("spec.finalizers"), R"(["kubernetes"])");
  EXPECT_EQ(made.at("status.phase"), "Active");
  EXPECT_EQ(made.at("metadata.labels['kubernetes.io/metadata.name']"), "n");
  api.make_config_map("free", "n");
  api.post("/api/v1/namespaces/n/configmaps",
           R"({"metadata":{"name":"held","finalizers":["x.io/a"]}})");

  const ApiReply ending = api.remove("/api/v1/namespaces/n");
  EXPECT_EQ(ending.status(), 200);
  EXPECT_EQ(ending.at("status.phase"), "Terminating");
  EXPECT_NE(ending.at("metadata.deletionTimestamp"), "");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get("/api/v1/namespaces/n/configmaps").names(), ElementsAre("held"));
  EXPECT_EQ(api.get("/api/v1/namespaces/n").status(), 200);
  api.patch("/api/v1/namespaces/n/configmaps/held", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.get("/api/v1/namespaces/n").status(), 404);

  for (const char* name : {"default", "kube-system", "kube-public"}) {
    EXPECT_EQ(api.remove(std::string{"/api/v1/namespaces/"} + name).status(), 403);
  }
  EXPECT_EQ(api.remove("/api/v1/namespaces/kube-node-lease").status(), 200);
}

/// Returns the conditions of a namespace as "Type=Status", and messages of those that are true.
std::vector<std::string> conditions_of(Api& api, const std::string& namespace_) {
  std::vector<std::string> all;
  const ApiReply reply = api.get("/api/v1/namespaces/" + namespace_);
  for (const Value& condition : reply.json->get_array("status.conditions")) {
    const std::string type{condition["type"].as_string()};
    all.push_back(condition["status"] == Value{"True"}
                      ? type + ": " + std::string{condition["message"].as_string()}
                      : type + "=False");
  }
  return all;
}

// DL-13
TEST(Namespaces, LoseTheirPodsFirst) {
  Api api;
  api.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  api.make_config_map("free", "n");
  api.post("/api/v1/namespaces/n/configmaps",
           R"({"metadata":{"name":"held","finalizers":["x.io/a"]}})");
  api.post("/api/v1/namespaces/n/pods",
           R"({"metadata":{"name":"p","finalizers":["x.io/b"]},)"
           R"("spec":{"containers":[{"name":"c","image":"i"}]}})");

  api.remove("/api/v1/namespaces/n");
  ASSERT_TRUE(api.engine.settle());

  EXPECT_THAT(api.get("/api/v1/namespaces/n/configmaps").names(), ElementsAre("free", "held"));
  EXPECT_NE(api.get("/api/v1/namespaces/n/pods/p").at("metadata.deletionTimestamp"), "");
  EXPECT_THAT(conditions_of(api, "n"),
              ElementsAre("NamespaceDeletionDiscoveryFailure=False",
                          "NamespaceDeletionGroupVersionParsingFailure=False",
                          "NamespaceDeletionContentFailure=False",
                          "NamespaceContentRemaining=False", "NamespaceFinalizersRemaining=False"));

  api.patch("/api/v1/namespaces/n/pods/p", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(api.engine.settle());

  EXPECT_THAT(api.get("/api/v1/namespaces/n/configmaps").names(), ElementsAre("held"));
  EXPECT_THAT(
      conditions_of(api, "n"),
      ElementsAre("NamespaceDeletionDiscoveryFailure=False",
                  "NamespaceDeletionGroupVersionParsingFailure=False",
                  "NamespaceDeletionContentFailure=False",
                  "NamespaceContentRemaining: Some resources are remaining: configmaps. has 1 "
                  "resource instances",
                  "NamespaceFinalizersRemaining: Some content in the namespace has finalizers "
                  "remaining: x.io/a in 1 resource instances"));

  api.patch("/api/v1/namespaces/n/configmaps/held", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.get("/api/v1/namespaces/n").status(), 404);
}

// DL-10, RQ-3
TEST(Namespaces, AreDeletedByFinalize) {
  Api api{{.namespace_controller = false}};
  api.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
  Value object = *api.remove("/api/v1/namespaces/n").json;
  object["spec"]["finalizers"] = Value::array();
  EXPECT_EQ(api.patch("/api/v1/namespaces/n/finalize", "{}").status(), 405);
  EXPECT_EQ(api.put("/api/v1/namespaces/n", object).status(), 200);
  EXPECT_EQ(api.get("/api/v1/namespaces/n").status(), 200);  // only finalize may do that
  object["metadata"].erase("resourceVersion");
  EXPECT_EQ(api.put("/api/v1/namespaces/n/finalize", object).status(), 200);
  EXPECT_EQ(api.get("/api/v1/namespaces/n").status(), 404);
}

std::string owned(const std::string& name, const std::string& owner, const std::string& uid,
                  bool blocks = true) {
  return R"({"metadata":{"name":")" + name +
         R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" + owner +
         R"(","uid":")" + uid + R"(","blockOwnerDeletion":)" + (blocks ? "true" : "false") + "}]}}";
}

// DL-8
TEST(Garbage, IsDeletedInTheBackground) {
  Api api{{.garbage_collection = true}};
  const std::string uid = api.make_config_map("owner").at("metadata.uid");
  api.post(kConfigMaps, owned("child", "owner", uid));
  const std::string child = api.get(std::string{kConfigMaps} + "/child").at("metadata.uid");
  api.post(kConfigMaps, owned("grandchild", "child", child));
  api.post(kConfigMaps, owned("dangling", "nobody", "unknown"));
  api.make_config_map("free");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get(kConfigMaps).names(), ElementsAre("child", "free", "grandchild", "owner"));
  api.remove(std::string{kConfigMaps} + "/owner");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get(kConfigMaps).names(), ElementsAre("free"));
}

// DL-8
TEST(Garbage, ForegroundWaitsForBlockingDependents) {
  Api api{{.garbage_collection = true}};
  const std::string uid = api.make_config_map("owner").at("metadata.uid");
  Value held = *parse_json(owned("held", "owner", uid));
  held["metadata"]["finalizers"] = Value::array({"x.io/a"});
  api.post(kConfigMaps, json_text(held));
  api.post(kConfigMaps, owned("quick", "owner", uid));
  api.remove(std::string{kConfigMaps} + "/owner", R"({"propagationPolicy":"Foreground"})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get(kConfigMaps).names(), ElementsAre("held", "owner"));
  api.patch(std::string{kConfigMaps} + "/held", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get(kConfigMaps).names(), IsEmpty());
}

// DL-8: owners in a cycle once waited for each other forever.
TEST(Garbage, ForegroundDeletionEndsWithCircularOwners) {
  for (const std::size_t count : {2U, 3U}) {
    Api api{{.garbage_collection = true}};
    std::vector<std::string> uids;
    for (std::size_t i = 0; i < count; ++i) {
      uids.push_back(api.make_config_map("c" + std::to_string(i)).at("metadata.uid"));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t owner = (i + count - 1) % count;
      const Value object =
          *parse_json(owned("c" + std::to_string(i), "c" + std::to_string(owner), uids[owner]));
      ASSERT_EQ(api.put(std::string{kConfigMaps} + "/c" + std::to_string(i), object).status(), 200);
    }
    ASSERT_TRUE(api.engine.settle());

    api.remove(std::string{kConfigMaps} + "/c0", R"({"propagationPolicy":"Foreground"})");

    ASSERT_TRUE(api.engine.settle());
    EXPECT_THAT(api.get(kConfigMaps).names(), IsEmpty()) << count;
  }
}

// DL-8
TEST(Garbage, OrphansLoseTheirOwner) {
  Api api{{.garbage_collection = true}};
  const std::string uid = api.make_config_map("owner").at("metadata.uid");
  api.post(kConfigMaps, owned("child", "owner", uid));
  ASSERT_TRUE(api.engine.settle());
  api.remove(std::string{kConfigMaps} + "/owner", R"({"propagationPolicy":"Orphan"})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(api.get(kConfigMaps).names(), ElementsAre("child"));
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/child").at("metadata.ownerReferences"), "");
}

// DL-8
TEST(Garbage, NamespacedOwnersOfClusterObjectsNeverCountAsGone) {
  Api api{{.garbage_collection = true}};
  api.post("/api/v1/nodes", owned("n", "owner", "unknown"));
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.get("/api/v1/nodes/n").status(), 200);
}

}  // namespace
}  // namespace kube::testkit::detail
