// SPDX-License-Identifier: Apache-2.0
// The verbs create and update, generation and status.
#include <gmock/gmock.h>

#include <thread>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

// CR-1
TEST(Create, StoresTheObjectWithFreshIdentity) {
  Api api;
  const ApiReply reply = api.post(
      kConfigMaps,
      R"({"metadata":{"name":"a","uid":"x","creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x",)"
      R"("deletionTimestamp":"2001-01-01T00:00:00Z","deletionGracePeriodSeconds":5,"generation":9},"data":{"k":"v"}})");

  ASSERT_EQ(reply.status(), 201) << reply.text();
  EXPECT_THAT(reply.at("metadata.uid"),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(reply.at("metadata.creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(reply.at("metadata.namespace"), "default");
  EXPECT_EQ(reply.at("metadata.deletionTimestamp"), "");
  EXPECT_EQ(reply.at("metadata.selfLink"), "");
  EXPECT_EQ(reply.at("metadata.generation"), "9");  // not tracked for this kind
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").text(), reply.text());

  const ApiReply versioned =
      api.post(kConfigMaps, R"({"metadata":{"name":"b","resourceVersion":"5"}})");
  EXPECT_EQ(versioned.status(), 500);
  EXPECT_EQ(versioned.reason(), "");
  EXPECT_THAT(versioned.message(), HasSubstr("should not be set"));
}

// CR-2
TEST(Create, GeneratesNames) {
  Api api;
  const ApiReply reply = api.post(kConfigMaps, R"({"metadata":{"generateName":"run-"}})");
  EXPECT_EQ(reply.status(), 201);
  EXPECT_THAT(reply.at("metadata.name"), MatchesRegex("run-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  const std::string name =
      api.post(kConfigMaps, R"({"metadata":{"generateName":")" + std::string(70, 'a') + "\"}}")
          .at("metadata.name");
  EXPECT_EQ(name.size(), 63U);

  const ApiReply none = api.post(kConfigMaps, "{}");
  EXPECT_EQ(none.status(), 422);
  EXPECT_EQ(none.at("details.causes[0].field"), "metadata.name");
}

// CR-3
TEST(Create, ChecksNamespaceAndType) {
  Api api;
  EXPECT_EQ(
      api.post(kConfigMaps, R"({"metadata":{"name":"a","namespace":"kube-system"}})").status(),
      400);
  const ApiReply node = api.post("/api/v1/nodes", R"({"metadata":{"name":"n","namespace":"x"}})");
  EXPECT_EQ(node.status(), 201) << node.text();
  EXPECT_EQ(node.at("metadata.namespace"), "");
  EXPECT_EQ(
      api.post(kConfigMaps, R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"b"}})")
          .status(),
      400);
  EXPECT_EQ(api.post(kConfigMaps, R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}})")
                .status(),
            400);
  EXPECT_EQ(
      api.post(kConfigMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})")
          .status(),
      201);
}

// CR-4
TEST(Create, NeedsAnActiveNamespace) {
  Api api{{.namespace_controller = false}};
  const ApiReply missing = api.make_config_map("a", "nowhere");
  EXPECT_EQ(missing.status(), 404);
  EXPECT_EQ(missing.message(), "namespaces \"nowhere\" not found");

  api.post("/api/v1/namespaces", R"({"metadata":{"name":"ending"}})");
  api.make_config_map("old", "ending");
  api.remove("/api/v1/namespaces/ending");
  const ApiReply refused = api.make_config_map("a", "ending");
  EXPECT_EQ(refused.status(), 403);
  EXPECT_EQ(refused.reason(), "Forbidden");
  EXPECT_EQ(refused.at("details.causes[0].reason"), "NamespaceTerminating");
  EXPECT_EQ(refused.at("details.causes[0].field"), "metadata.namespace");
  EXPECT_EQ(api.patch("/api/v1/namespaces/ending/configmaps/old", R"({"data":{"x":"y"}})").status(),
            200);
  EXPECT_EQ(api.remove("/api/v1/namespaces/ending/configmaps/old").status(), 200);
}

// CR-5
TEST(Create, RefusesTakenNames) {
  Api api;
  api.make_config_map("a");
  const ApiReply again = api.make_config_map("a");
  EXPECT_EQ(again.status(), 409);
  EXPECT_EQ(again.reason(), "AlreadyExists");
  EXPECT_EQ(again.message(), "configmaps \"a\" already exists");
  EXPECT_EQ(again.at("details.kind"), "configmaps");  // ER-2

  api.patch(std::string{kConfigMaps} + "/a", R"({"metadata":{"finalizers":["x.io/f"]}})");
  api.remove(std::string{kConfigMaps} + "/a");
  EXPECT_THAT(api.make_config_map("a").message(), StartsWith("object is being deleted: "));
}

// CR-6, ER-2, ER-3
TEST(Create, ChecksMetadata) {
  Api api;
  const auto refused = [&](const std::string& metadata, const std::string& field,
                           const std::string& type) {
    const ApiReply reply = api.post(kConfigMaps, R"({"metadata":{"name":"bad",)" + metadata + "}}");
    EXPECT_EQ(reply.status(), 422) << metadata;
    EXPECT_EQ(reply.at("details.kind"), "ConfigMap");
    EXPECT_EQ(reply.at("details.causes[0].field"), field);
    EXPECT_EQ(reply.at("details.causes[0].reason"), type);
    EXPECT_THAT(reply.message(), StartsWith("ConfigMap \"bad\" is invalid: "));
  };
  refused(R"("annotations":{"a":")" + std::string(262145, 'x') + "\"}", "metadata.annotations",
          "FieldValueTooLong");
  refused(R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}])",
          "metadata.ownerReferences.uid", "FieldValueInvalid");
  refused(
      R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1","controller":true},)"
      R"({"apiVersion":"v1","kind":"Pod","name":"q","uid":"2","controller":true}])",
      "metadata.ownerReferences", "FieldValueInvalid");
  refused(R"("finalizers":["not/qualified/x"])", "metadata.finalizers", "FieldValueInvalid");
  refused(R"("finalizers":["orphan","foregroundDeletion"])", "metadata.finalizers",
          "FieldValueInvalid");
  refused(R"("labels":{"k":"not ok"})", "metadata.labels", "FieldValueInvalid");

  const ApiReply twice = api.post(
      kConfigMaps,
      R"({"metadata":{"name":"dup","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"},)"
      R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"}]}})");
  EXPECT_EQ(twice.status(), 201);
  EXPECT_EQ(twice.json->get_array("metadata.ownerReferences").size(), 1U);
  EXPECT_THAT(twice.header("Warning"), StartsWith("299 - \".metadata.ownerReferences"));

  const std::string big(600000, 'x');
  EXPECT_EQ(api.post(kConfigMaps, R"({"metadata":{"name":"big"},"data":{"a":")" + big +
                                      R"(","b":")" + big + "\"}}")
                .status(),
            422);
}

// CR-7
TEST(Create, ReportsUnknownAndDuplicateFields) {
  Api api;
  const std::string body =
      R"({"metadata":{"name":"NAME"},"spec":{"x":1,"containers":[{"name":"c","image":"i","y":2}],"nodeName":"a","nodeName":"b"}})";
  const auto with_name = [&](const char* name) {
    std::string copy = body;
    return copy.replace(copy.find("NAME"), 4, name);
  };
  const ApiReply warned = api.post(kPods, with_name("a"));
  EXPECT_EQ(warned.status(), 201);
  EXPECT_THAT(warned.headers("Warning"),
              ElementsAre(R"(299 - "unknown field \"spec.x\"")",
                          R"(299 - "unknown field \"spec.containers[0].y\"")",
                          R"(299 - "duplicate field \"spec.nodeName\"")"));
  EXPECT_EQ(warned.at("spec.x"), "");
  const ApiReply ignored = api.post(std::string{kPods} + "?fieldValidation=Ignore", with_name("b"));
  EXPECT_EQ(ignored.status(), 201);
  EXPECT_EQ(ignored.header("Warning"), "");
  const ApiReply strict = api.post(std::string{kPods} + "?fieldValidation=Strict", with_name("c"));
  EXPECT_EQ(strict.status(), 400);
  EXPECT_EQ(
      strict.message(),
      "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
      "\"spec.x\", unknown field \"spec.containers[0].y\", duplicate field \"spec.nodeName\"");
  EXPECT_EQ(api.post(std::string{kPods} + "?fieldValidation=Perhaps", with_name("d")).status(),
            422);

  const ApiReply patched =
      api.send("PATCH", std::string{kPods} + "/a?fieldValidation=Strict", R"({"spec":{"z":1}})",
               {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(patched.status(), 422);
  EXPECT_THAT(patched.message(), StartsWith(" \"\" is invalid: patch: Invalid value: "));
  EXPECT_EQ(patched.at("details.causes[0].field"), "patch");
}

// CR-8
TEST(Create, WarningsAreBounded) {
  Api api;
  std::string body = R"({"metadata":{"name":"w"})";
  for (int i = 0; i < 40; ++i) body += ",\"" + std::string(300, 'a') + std::to_string(i) + "\":1";
  const std::vector<std::string> warnings = api.post(kConfigMaps, body + "}").headers("Warning");
  EXPECT_EQ(warnings.size(), 16U);
  for (const std::string& warning : warnings) EXPECT_LE(warning.size(), 300U);
}

// CR-9
TEST(DryRun, ChangesNothing) {
  Api api;
  const std::uint64_t before = api.engine.revision();
  const ApiReply created =
      api.post(std::string{kConfigMaps} + "?dryRun=All", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(created.status(), 201);
  EXPECT_EQ(created.version(), "");
  EXPECT_NE(created.at("metadata.uid"), "");
  EXPECT_EQ(api.engine.revision(), before);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").status(), 404);

  const std::string version = api.make_config_map("a").version();
  EXPECT_EQ(
      api.post(std::string{kConfigMaps} + "?dryRun=All", R"({"metadata":{"name":"a"}})").status(),
      409);
  const ApiReply patched =
      api.patch(std::string{kConfigMaps} + "/a?dryRun=All", R"({"data":{"z":"1"}})");
  EXPECT_EQ(patched.at("data.z"), "1");
  EXPECT_EQ(patched.version(), version);
  EXPECT_EQ(api.remove(std::string{kConfigMaps} + "/a?dryRun=All").status(), 200);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").at("data.z"), "");
  EXPECT_EQ(
      api.post(std::string{kConfigMaps} + "?dryRun=Some", R"({"metadata":{"name":"b"}})").status(),
      422);
}

// RV-2
TEST(Update, WithoutAChangeIsNotAWrite) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  api.clock.advance(std::chrono::hours{1});
  const ApiReply same = api.put(std::string{kConfigMaps} + "/a", *made.json);
  EXPECT_EQ(same.status(), 200);
  EXPECT_EQ(same.version(), made.version());
  EXPECT_EQ(api.patch(std::string{kConfigMaps} + "/a", R"({"data":{"a":"1"}})").version(),
            made.version());
  EXPECT_EQ(std::to_string(api.engine.revision()), made.version());
}

// UP-1, UP-2, UP-4, RV-7
TEST(Update, ChecksNameVersionAndUid) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  Value object = *made.json;
  object["data"]["a"] = "2";
  const ApiReply put = api.put(path, object);
  EXPECT_EQ(put.status(), 200);
  EXPECT_EQ(put.at("data.a"), "2");

  object["data"]["a"] = "3";
  const ApiReply stale = api.put(path, object);
  EXPECT_EQ(stale.status(), 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(
      stale.message(),
      "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
      "apply your changes to the latest version and try again");
  object["metadata"]["resourceVersion"] = "abc";
  const ApiReply malformed = api.put(path, object);
  EXPECT_EQ(malformed.status(), 500);
  EXPECT_EQ(malformed.reason(), "");
  object["metadata"].erase("resourceVersion");
  EXPECT_EQ(api.put(path, object).status(), 200);
  object["metadata"]["uid"] = "other";
  EXPECT_EQ(api.put(path, object).status(), 409);
  object["metadata"]["name"] = "b";
  EXPECT_EQ(api.put(path, object).status(), 400);
  EXPECT_EQ(api.put(std::string{kConfigMaps} + "/b", object).status(), 404);

  // If PUT can create: an object with a uid cannot be new, regardless of its version.
  const ApiReply role = api.put(
      "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/r",
      *parse_json(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role",)"
                  R"("metadata":{"name":"r","uid":"other","resourceVersion":"abc"},"rules":[]})"));
  EXPECT_EQ(role.status(), 409);
}

// UP-3
TEST(Update, RequiresTheVersionForSomeKinds) {
  Api api;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  Value lease =
      *api.post(leases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"x"}})").json;
  lease["metadata"].erase("resourceVersion");
  const ApiReply reply = api.put(leases + "/l", lease);
  EXPECT_EQ(reply.status(), 422);
  EXPECT_EQ(
      reply.message(),
      "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: "
      "must be specified for an update");
  EXPECT_EQ(reply.at("details.kind"), "leases");
}

// UP-4
TEST(Update, CreatesObjectsOfSomeKinds) {
  Api api;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const ApiReply made =
      api.put(leases + "/l", *parse_json(R"({"metadata":{"name":"l","resourceVersion":"77"}})"));
  EXPECT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(api.put("/apis/apps/v1/namespaces/default/deployments/d",
                    *parse_json(R"({"metadata":{"name":"d"}})"))
                .status(),
            404);
}

// UP-5
TEST(Update, KeepsFieldsOwnedByTheServer) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  const ApiReply put = api.put(
      path,
      *parse_json(
          R"({"metadata":{"name":"a","creationTimestamp":"2001-01-01T00:00:00Z","finalizers":["x.io/a"]}})"));
  EXPECT_EQ(put.at("metadata.uid"), made.at("metadata.uid"));
  EXPECT_EQ(put.at("metadata.creationTimestamp"), made.at("metadata.creationTimestamp"));
  EXPECT_EQ(
      api.put(path, *parse_json(
                        R"({"metadata":{"name":"a","deletionTimestamp":"2030-01-01T00:00:00Z"}})"))
          .status(),
      422);

  api.remove(path);
  const ApiReply more = api.patch(path, R"({"metadata":{"finalizers":["x.io/a","x.io/b"]}})");
  EXPECT_EQ(more.status(), 422);
  EXPECT_THAT(more.message(),
              HasSubstr("no new finalizers can be added if the object is being deleted"));
}

// UP-6, WT-22
TEST(Update, RemovingTheLastFinalizerDeletes) {
  Api api;
  api.post(kConfigMaps, R"({"metadata":{"name":"a","finalizers":["x.io/a"]}})");
  const std::string path = std::string{kConfigMaps} + "/a";
  const std::string marked = api.remove(path).version();
  WatchReader watch = api.watch(std::string{kConfigMaps} + "?watch=1&resourceVersion=" + marked);
  const ApiReply last = api.patch(path, R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(last.status(), 200);
  EXPECT_EQ(last.version(), marked);
  EXPECT_EQ(api.get(path).status(), 404);
  const WatchedEvent event = watch.next();
  EXPECT_EQ(event.type, "DELETED");
  EXPECT_EQ(event.at("metadata.finalizers[0]"), "x.io/a");
  EXPECT_EQ(event.version(), std::to_string(api.engine.revision()));
}

const char* const kDeployment =
    R"({"metadata":{"name":"d","labels":{"l":"1"}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},)"
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}},)"
    R"("status":{"replicas":9}})";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

// GN-1, GN-2, ST-1
TEST(Generation, CountsChangesOfTheSpec) {
  Api api;
  const std::string path = std::string{kDeployments} + "/d";
  const ApiReply made = api.post(kDeployments, kDeployment);
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("metadata.generation"), "1");
  EXPECT_EQ(made.at("status.replicas"), "");
  const auto generation = [&](const std::string& patch) {
    return api.patch(path, patch).at("metadata.generation");
  };
  EXPECT_EQ(generation(R"({"metadata":{"labels":{"x":"y"}}})"), "1");
  EXPECT_EQ(generation(R"({"spec":{"replicas":3}})"), "2");
  EXPECT_EQ(generation(R"({"metadata":{"annotations":{"x":"y"}}})"), "3");  // deployments only
  EXPECT_EQ(generation(R"({"metadata":{"generation":77}})"), "3");
  EXPECT_EQ(generation(R"({"status":{"replicas":1}})"), "3");
  EXPECT_EQ(api.get(path).at("status.replicas"), "");
  EXPECT_EQ(api.patch(path + "/status", R"({"status":{"replicas":1}})").at("metadata.generation"),
            "3");

  api.patch(path, R"({"metadata":{"finalizers":["x.io/a"]}})");
  EXPECT_EQ(api.remove(path).at("metadata.generation"), "4");
  EXPECT_EQ(api.make_config_map("c").at("metadata.generation"), "");
}

// ST-2
TEST(Status, ChangesNothingElse) {
  Api api;
  const std::string path = std::string{kDeployments} + "/d";
  Value object = *api.post(kDeployments, kDeployment).json;
  object["status"]["replicas"] = 5;
  object["spec"]["replicas"] = 7;
  object["metadata"]["labels"]["l"] = "2";
  object["metadata"]["annotations"]["a"] = "1";
  const ApiReply put = api.put(path + "/status", object);
  EXPECT_EQ(put.status(), 200) << put.text();
  EXPECT_EQ(put.at("status.replicas"), "5");
  EXPECT_EQ(put.at("spec.replicas"), "2");
  EXPECT_EQ(put.at("metadata.labels.l"), "1");
  EXPECT_EQ(put.at("metadata.annotations.a"), "1");
  EXPECT_EQ(api.put(path + "/status", object).status(), 409);
  EXPECT_EQ(api.get(path + "/status").text(), api.get(path).text());
}

// UP-2, PA-2
TEST(Update, PatchesOfManyWritersAllArrive) {
  Api api;
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        for (int i = 0; i < 25; ++i) {
          EXPECT_EQ(
              api.patch(path, R"({"data":{"k)" + std::to_string(writer * 100 + i) + R"(":"v"}})")
                  .status(),
              200);
        }
      });
    }
  }
  EXPECT_EQ(api.get(path).json->get_object("data").size(), 101U);
}

}  // namespace
}  // namespace kube::testkit::detail
