// SPDX-License-Identifier: Apache-2.0
// Paths, verbs and common properties of responses.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// RQ-1
TEST(Requests, NamespacedRequestsNeedTheNamespaceInThePath) {
  Api api;
  EXPECT_EQ(api.get("/api/v1/configmaps").status(), 200);
  EXPECT_EQ(api.get("/api/v1/configmaps/").status(), 200);
  EXPECT_EQ(api.get("/api/v1//configmaps").status(), 404);
  const ApiReply post = api.post("/api/v1/configmaps", R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(post.status(), 405);
  EXPECT_EQ(post.reason(), "MethodNotAllowed");
  EXPECT_EQ(api.remove("/api/v1/configmaps").status(), 405);
  EXPECT_EQ(api.get("/api/v1/configmaps/a").status(), 404);
  EXPECT_EQ(api.get("/api/v1/namespaces/default/nodes").status(), 404);
}

// RQ-2
TEST(Requests, VerbsFollowMethodAndPath) {
  Api api;
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  EXPECT_EQ(api.get(path + "?watch=true").at("kind"), "ConfigMap");
  EXPECT_EQ(api.send("HEAD", path).status(), 405);
  EXPECT_EQ(api.send("OPTIONS", kConfigMaps).status(), 405);
  EXPECT_EQ(api.post(path, "{}").status(), 405);
  EXPECT_EQ(api.put(kConfigMaps, Value::object()).status(), 405);
  EXPECT_EQ(api.send("DELETE", "/api/v1/namespaces").status(), 405);
  EXPECT_EQ(api.get("/api/v1/namespaces/default/status").at("kind"), "Namespace");  // RQ-3
}

// RQ-4
TEST(Requests, UnknownThingsAreNotFound) {
  Api api;
  for (const char* path :
       {"/apis/apps/v9/deployments", "/api/v2/pods", "/apis/apps/v9", "/api/v2"}) {
    const ApiReply reply = api.get(path);
    EXPECT_EQ(reply.status(), 404) << path;
    EXPECT_EQ(reply.message(), "the server could not find the requested resource") << path;
  }
  for (const char* path : {"/nothing", "/apis/nothing.io/v1/things", "/apis/nothing.io"}) {
    const ApiReply reply = api.get(path);
    EXPECT_EQ(reply.status(), 404) << path;
    EXPECT_EQ(reply.text(), "404 page not found\n");
    EXPECT_EQ(reply.header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(reply.header("X-Content-Type-Options"), "nosniff");
  }
  const ApiReply unknown = api.get("/api/v1/namespaces/default/gizmos");
  EXPECT_EQ(unknown.status(), 404);
  EXPECT_EQ(unknown.message(), "the server could not find the requested resource");
  EXPECT_THAT(unknown.text(), HasSubstr("\"details\":{}"));
  EXPECT_EQ(api.get("/api/v1/namespaces/default/pods/p/dance").reason(), "NotFound");
}

// RQ-5
TEST(Requests, FlagsAreTrueUnlessFalse) {
  Api api;
  for (const char* text : {"?watch", "?watch=", "?watch=yes", "?watch=1", "?watch=True"}) {
    EXPECT_TRUE(api.get(std::string{kConfigMaps} + text).response.stream) << text;
  }
  for (const char* text : {"?watch=false", "?watch=FALSE", "?watch=0", ""}) {
    EXPECT_FALSE(api.get(std::string{kConfigMaps} + text).response.stream) << text;
  }
  const ApiReply bad = api.get(std::string{kConfigMaps} + "?watch=1&timeoutSeconds=soon");
  EXPECT_EQ(bad.status(), 400);
}

// RQ-6
TEST(Requests, AnswersCarryAnAuditId) {
  Api api;
  const ApiReply fresh = api.get(kConfigMaps);
  EXPECT_THAT(fresh.header("Audit-Id"), MatchesRegex("[0-9a-f-]{36}"));
  EXPECT_EQ(fresh.header("Cache-Control"), "no-cache, private");
  EXPECT_EQ(api.send("GET", "/nothing", "", {{"Audit-Id", "mine"}}).header("Audit-Id"), "mine");
}

// RQ-7
TEST(Requests, BodiesAreLimited) {
  Api api;
  const ApiReply reply = api.post(kConfigMaps, std::string(3145729, ' '));
  EXPECT_EQ(reply.status(), 413);
  EXPECT_EQ(reply.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(reply.message(), "Request entity too large: limit is 3145728");
}

// FC-1
TEST(Requests, TooManyConcurrentRequestsAreRefused) {
  Api api{{.max_writes_in_flight = 0}};
  const ApiReply reply = api.make_config_map("a");
  EXPECT_EQ(reply.status(), 429);
  EXPECT_THAT(reply.header("Content-Type"), HasSubstr("text/plain"));
  EXPECT_THAT(reply.text(), HasSubstr("Too many requests, please try again later."));
  EXPECT_EQ(reply.header("Retry-After"), "1");
  EXPECT_EQ(api.get(kConfigMaps).status(), 200);
}

// FC-2, WT-15
TEST(Requests, AreRefusedDuringShutdown) {
  Api api;
  WatchReader watch = api.watch(std::string{kConfigMaps} + "?watch=1");
  api.engine.shut_down();
  const ApiReply reply = api.get(kConfigMaps);
  EXPECT_EQ(reply.status(), 429);
  EXPECT_EQ(reply.header("Retry-After"), "5");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_EQ(watch.next().type, "END");
}

// VE-1
TEST(Version, IsIndentedJson) {
  Api api;
  const ApiReply reply = api.get("/version?timeout=32s");
  EXPECT_THAT(reply.text(), testing::StartsWith("{\n  \"major\": \"1\","));
  EXPECT_EQ(reply.at("minor"), "36");
  EXPECT_EQ(reply.at("gitVersion"), "v1.36.4");
  EXPECT_EQ(reply.at("minCompatibilityMinor"), "35");
}

// HE-2
TEST(Metrics, CountRequestsByResourceAndCode) {
  Api api;
  api.make_config_map("a");
  api.get(std::string{kConfigMaps} + "/a");
  api.get(std::string{kConfigMaps} + "/a");
  api.get("/api/v1/nonsense/made/up");

  const ApiReply reply = api.get("/metrics");

  EXPECT_EQ(reply.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(
      reply.text(),
      testing::HasSubstr(R"(apiserver_request_total{code="200",group="",resource="configmaps",)"
                         R"(subresource="",verb="GET",version="v1"} 2)"));
  EXPECT_THAT(
      reply.text(),
      testing::HasSubstr(R"(apiserver_request_total{code="201",group="",resource="configmaps",)"
                         R"(subresource="",verb="POST",version="v1"} 1)"));
  EXPECT_THAT(reply.text(), testing::Not(testing::HasSubstr("nonsense")));
  EXPECT_THAT(reply.text(), testing::HasSubstr("apiserver_current_inflight_requests"));
}

// HE-2: otherwise clients could fill the memory with made-up names.
TEST(Metrics, DoNotContainNamesMadeUpByClients) {
  Api api{{.authorize = [](const detail::AccessRequest& request) {
    return detail::AccessDecision{.allowed = !request.is_resource()};
  }}};
  EXPECT_EQ(api.get("/apis/made.up/v1/nonsense").status(), 403);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a/nonsense").status(), 403);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a").status(), 403);

  const std::string text = api.get("/metrics").text();

  EXPECT_THAT(text, testing::HasSubstr(R"(code="403",group="",resource="configmaps")"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("made.up")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("nonsense")));
}

// HE-1
TEST(Health, ListsItsChecks) {
  Api api;
  for (const char* endpoint : {"healthz", "livez", "readyz"}) {
    const std::string path = std::string{"/"} + endpoint;
    EXPECT_EQ(api.get(path).text(), "ok");
    EXPECT_EQ(api.get(path).header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(api.get(path + "/ping").text(), "ok");
    EXPECT_EQ(api.get(path + "/unknown").status(), 404);
    EXPECT_THAT(api.get(path + "?verbose").text(), HasSubstr("[+]ping ok\n"));
    EXPECT_THAT(api.get(path + "?verbose").text(),
                testing::EndsWith(std::string{endpoint} + " check passed\n"));
    EXPECT_THAT(api.get(path + "?verbose&exclude=ping&exclude=none").text(),
                HasSubstr("[+]ping excluded: ok\n"));
  }
  api.engine.set_health("etcd", false);
  const ApiReply failed = api.get("/readyz");
  EXPECT_EQ(failed.status(), 500);
  EXPECT_THAT(failed.text(), HasSubstr("[-]etcd failed: reason withheld\n"));
  EXPECT_THAT(failed.text(), testing::EndsWith("readyz check failed\n"));
  EXPECT_EQ(api.get("/readyz?exclude=etcd").status(), 200);
}

// HE-1
TEST(Health, HasTheChecksOfARealServer) {
  Api api;

  const std::string ready = api.get("/readyz?verbose").text();
  const std::string live = api.get("/livez?verbose").text();

  EXPECT_THAT(ready, testing::StartsWith("[+]ping ok\n[+]log ok\n[+]etcd ok\n"));
  EXPECT_THAT(ready, HasSubstr("[+]informer-sync ok\n"));
  EXPECT_THAT(ready, HasSubstr("[+]poststarthook/rbac/bootstrap-roles ok\n"));
  EXPECT_THAT(live, HasSubstr("[+]poststarthook/rbac/bootstrap-roles ok\n"));
  EXPECT_THAT(live, testing::Not(HasSubstr("[+]informer-sync")));
  EXPECT_EQ(api.get("/readyz/shutdown").text(), "ok");
  EXPECT_EQ(api.get("/livez/shutdown").status(), 404);
  EXPECT_THAT(live, HasSubstr("[+]loopback-serving-certificate ok\n"));
  EXPECT_THAT(ready, testing::Not(HasSubstr("loopback-serving-certificate")));
}

}  // namespace
}  // namespace kube::testkit::detail
