// SPDX-License-Identifier: Apache-2.0
// Requests with patches and server-side apply; tests/values covers the algorithms.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kPath = std::string{kConfigMaps} + "/a";

ApiReply apply(Api& api, const std::string& path, const std::string& body,
               const std::string& query = "fieldManager=m1") {
  return api.send("PATCH", path + "?" + query, body,
                  {{"Content-Type", "application/apply-patch+yaml"}});
}
std::string config(const std::string& data, const std::string& metadata = "") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a")" + metadata +
         R"(},"data":)" + data + "}";
}

// PA-1
TEST(Patch, MediaTypeSelectsThePatchType) {
  Api api;
  api.make_config_map("a");
  EXPECT_EQ(api.patch(kPath, R"([{"op":"add","path":"/data/j","value":"1"}])", "json-patch+json")
                .at("data.j"),
            "1");
  EXPECT_EQ(
      api.patch(kPath, R"({"data":{"m":"1"}})", "merge-patch+json; charset=utf-8").at("data.m"),
      "1");
  EXPECT_EQ(api.patch(kPath, R"({"data":{"s":"1"}})", "strategic-merge-patch+json").at("data.s"),
            "1");
  const ApiReply refused = api.patch(kPath, "{}", "json");
  EXPECT_EQ(refused.status(), 415);
  EXPECT_EQ(refused.message(), "415: Unsupported Media Type");
  EXPECT_EQ(api.send("PATCH", kPath, "{}").status(), 415);

  api.make_widgets();
  api.post(kWidgets, R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})");
  const ApiReply custom =
      api.patch(std::string{kWidgets} + "/w", "{}", "strategic-merge-patch+json");
  EXPECT_EQ(custom.status(), 415);
  EXPECT_THAT(custom.message(), HasSubstr("application/merge-patch+json"));
}

// PA-2
TEST(Patch, KeepsIdentity) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  EXPECT_EQ(api.patch(kPath, R"({"metadata":{"name":"b"}})").status(), 400);
  EXPECT_EQ(api.patch(kPath, R"({"metadata":{"namespace":"b"}})").status(), 400);
  EXPECT_EQ(api.patch(kPath, R"({"metadata":{"uid":"b"}})").status(), 422);
  EXPECT_EQ(api.patch(kPath, R"({"kind":"Secret"})").status(), 422);
  EXPECT_EQ(api.patch(std::string{kConfigMaps} + "/none", "{}").status(), 404);
  api.patch(kPath, R"({"data":{"x":"1"}})");
  EXPECT_EQ(api.patch(kPath, R"({"metadata":{"resourceVersion":")" + made.version() +
                                 R"("},"data":{"x":"2"}})")
                .status(),
            409);
}

// PA-3, PA-4
TEST(Patch, FailuresHaveTheirCodes) {
  Api api;
  api.make_config_map("a");
  EXPECT_EQ(api.patch(kPath, "{", "json-patch+json").status(), 400);
  const ApiReply test =
      api.patch(kPath, R"([{"op":"test","path":"/data/a","value":"9"}])", "json-patch+json");
  EXPECT_EQ(test.status(), 422);
  EXPECT_EQ(test.message(), "the server rejected our request due to an error in our request");
  EXPECT_EQ(api.patch(kPath, "[]").status(), 400);
  EXPECT_EQ(api.patch(kPath + "?fieldValidation=Ignore", "[]").status(), 422);
  EXPECT_EQ(api.patch(kPath, "7").status(), 400);
  const ApiReply undecodable = api.patch(kPath, R"({"data":5})");
  EXPECT_EQ(undecodable.status(), 422);
  EXPECT_EQ(undecodable.at("details.causes[0].field"), "patch");
}

// PA-5
TEST(Patch, StrategicMergeKnowsTheKeys) {
  Api api;
  api.make_pod("p");
  const ApiReply patched = api.patch(
      std::string{kPods} + "/p", R"({"spec":{"containers":[{"name":"c","image":"busybox:2"}]}})",
      "strategic-merge-patch+json");
  EXPECT_EQ(patched.status(), 200) << patched.text();
  EXPECT_EQ(patched.at("spec.containers[0].image"), "busybox:2");
  EXPECT_EQ(patched.at("spec.containers[0].terminationMessagePolicy"), "File");
  const ApiReply keyless =
      api.patch(std::string{kPods} + "/p", R"({"spec":{"containers":[{"image":"x"}]}})",
                "strategic-merge-patch+json");
  EXPECT_EQ(keyless.status(), 500);
  EXPECT_EQ(keyless.reason(), "");
}

// SA-1
TEST(Apply, ChecksItsRequest) {
  Api api;
  EXPECT_EQ(apply(api, kPath, config("{}"), "").status(), 422);
  EXPECT_EQ(apply(api, kPath, config("{}"), "fieldManager=" + std::string(129, 'x')).status(), 422);
  EXPECT_EQ(apply(api, kPath, R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}})")
                .status(),
            400);
  EXPECT_EQ(apply(api, kPath, R"({"apiVersion":"v1","metadata":{"name":"a"}})").status(), 400);
  EXPECT_EQ(apply(api, kPath, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})")
                .status(),
            400);
  EXPECT_EQ(apply(api, kPath, config("{}", R"(,"managedFields":[{}])")).status(), 400);
  EXPECT_EQ(
      apply(api, kPath,
            R"({"apiVersion":"v1","kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"a"}})",
            "fieldManager=m&fieldValidation=Strict")
          .status(),
      400);  // CR-7
  api.make_config_map("a");
  EXPECT_EQ(api.patch(kPath + "?force=true", "{}").status(), 422);
}

// SA-2, SA-3
TEST(Apply, CreatesUpdatesAndRemoves) {
  Api api;
  EXPECT_EQ(apply(api, kPath, config("{}", R"(,"uid":"x")")).status(), 409);
  const ApiReply made =
      apply(api, kPath, config(R"({"x":"1","y":"2"})", R"(,"resourceVersion":"5")"));
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("metadata.managedFields[0].manager"), "m1");
  EXPECT_EQ(made.at("metadata.managedFields[0].operation"), "Apply");
  api.clock.advance(std::chrono::hours{1});
  const ApiReply same = apply(api, kPath, config(R"({"x":"1","y":"2"})"));
  EXPECT_EQ(same.status(), 200);
  EXPECT_EQ(same.version(), made.version());
  const ApiReply less = apply(api, kPath, config(R"({"x":"1"})"));
  EXPECT_EQ(less.at("data"), R"({"x":"1"})");
  EXPECT_EQ(apply(api, std::string{kPods} + "/none/status",
                  R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"none"}})")
                .status(),
            404);  // SA-9
}

// SA-4
TEST(Apply, ConflictsAndForce) {
  Api api;
  apply(api, kPath, config(R"({"b":"1"})"));
  const ApiReply conflict = apply(api, kPath, config(R"({"b":"2"})"), "fieldManager=m2");
  EXPECT_EQ(conflict.status(), 409);
  EXPECT_EQ(conflict.message(), "Apply failed with 1 conflict: conflict with \"m1\": .data.b");
  EXPECT_EQ(conflict.at("details.causes[0].reason"), "FieldManagerConflict");
  EXPECT_EQ(conflict.at("details.causes[0].field"), ".data.b");
  EXPECT_EQ(apply(api, kPath, config(R"({"b":"2"})"), "fieldManager=m2&force=true").at("data.b"),
            "2");
}

// SA-7
TEST(ManagedFields, NameTheWriter) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  EXPECT_EQ(made.at("metadata.managedFields[0].manager"), "tester");
  EXPECT_EQ(made.at("metadata.managedFields[0].operation"), "Update");
  EXPECT_EQ(made.at("metadata.managedFields[0].fieldsV1"), R"({"f:data":{".":{},"f:a":{}}})");
  const ApiReply named = api.patch(kPath + "?fieldManager=me", R"({"data":{"b":"1"}})");
  EXPECT_EQ(named.json->get_array("metadata.managedFields").size(), 2U);
  const ApiReply cleared = api.patch(kPath, R"({"metadata":{"managedFields":[{}]}})");
  EXPECT_EQ(cleared.at("metadata.managedFields"), "");

  Api plain{{.managed_fields = false}};
  EXPECT_EQ(plain.make_config_map("a").at("metadata.managedFields"), "");
}

// SA-9
TEST(Apply, UnknownFieldsAndStatus) {
  Api api;
  const ApiReply unknown =
      apply(api, std::string{kPods} + "/p",
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"x":1}})");
  EXPECT_EQ(unknown.status(), 500);
  EXPECT_EQ(unknown.reason(), "");
  EXPECT_THAT(unknown.message(), HasSubstr(".spec.x: field not declared in schema"));
  api.make_pod("p");
  const ApiReply status = apply(
      api, std::string{kPods} + "/p/status",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"status":{"phase":"Running"}})");
  EXPECT_EQ(status.status(), 200) << status.text();
  EXPECT_EQ(status.at("status.phase"), "Running");
  EXPECT_EQ(status.at("metadata.labels"), "");
}

// SA-2
TEST(Apply, ReportsAMalformedBodyBeforeAUidMismatch) {
  Api api;
  const auto applied = [&](const std::string& time) {
    return api.patch(
        "/apis/coordination.k8s.io/v1/namespaces/default/leases/a?fieldManager=m",
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a","uid":"u"},)"
        R"("spec":{"renewTime":")" +
            time + "\"}}",
        "apply-patch+yaml");
  };
  EXPECT_EQ(applied("").status(), 500);
  EXPECT_EQ(applied("2026-01-01T00:00:00.000000Z").status(), 409);
}

// SA-1: flow style begins like JSON.
TEST(Apply, AcceptsYamlInFlowStyle) {
  Api api;

  const ApiReply made = api.patch(
      std::string{kConfigMaps} + "/a?fieldManager=m",
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}", "apply-patch+yaml");

  EXPECT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("data.k"), "v");
}

}  // namespace
}  // namespace kube::testkit::detail
