// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Recorder {
  std::vector<AccessRequest> requests;
  bool allow = true;
  std::string reason;

  std::function<AccessDecision(const AccessRequest&)> hook() {
    return [this](const AccessRequest& request) -> AccessDecision {
      requests.push_back(request);
      return {allow, reason};
    };
  }
};

EngineOptions guarded(Recorder& recorder) {
  return {.tokens = {{"secret", {.name = "jane", .uid = "7", .groups = {"dev"}}}},
          .authorize = recorder.hook()};
}

Headers bearer(const char* token) { return {{"Authorization", std::string{"Bearer "} + token}}; }

// AU-1
TEST(Access, WrongTokensAreRefusedEvenIfAnonymousIsAllowed) {
  Recorder recorder;
  Api api{guarded(recorder)};
  const ApiReply reply = api.send("GET", kConfigMaps, "", bearer("wrong"));
  EXPECT_EQ(reply.status(), 401);
  EXPECT_EQ(
      reply.text(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401})"
      "\n");
}

// AU-2
TEST(Access, UsersAndTheirGroups) {
  Recorder recorder;
  Api api{guarded(recorder)};
  api.get(kConfigMaps);
  api.send("GET", kConfigMaps, "", bearer("secret"));
  EXPECT_EQ(recorder.requests[0].user.name, "system:anonymous");
  EXPECT_THAT(recorder.requests[0].user.groups, ElementsAre("system:unauthenticated"));
  EXPECT_EQ(recorder.requests[1].user.name, "jane");
  EXPECT_THAT(recorder.requests[1].user.groups, ElementsAre("dev", "system:authenticated"));

  Api closed{{.allow_anonymous = false}};
  EXPECT_EQ(closed.get(kConfigMaps).status(), 401);
}

// AU-5
TEST(Access, CertificatesNameTheUser) {
  Recorder recorder;
  Api api{guarded(recorder)};
  ServerRequest request{.method = "GET",
                        .target = kConfigMaps,
                        .headers = {},
                        .body = {},
                        .certificate = PeerCertificate{"joe", {"ops"}}};
  EXPECT_EQ(api.engine.handle(request).status, 200);
  EXPECT_EQ(recorder.requests[0].user.name, "joe");
  EXPECT_THAT(recorder.requests[0].user.groups, ElementsAre("ops", "system:authenticated"));
}

// AU-3, SL-5
TEST(Access, RefusalsNameTheRequest) {
  Recorder recorder;
  Api api{guarded(recorder)};
  recorder.allow = false;
  const auto message = [&](const char* method, const std::string& target) {
    const ApiReply reply = api.send(method, target, "", bearer("secret"));
    EXPECT_EQ(reply.status(), 403);
    EXPECT_EQ(reply.header("X-Content-Type-Options"), "nosniff");
    return reply.message();
  };
  EXPECT_EQ(message("GET", kConfigMaps),
            "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API "
            "group \"\" in the namespace \"default\"");
  EXPECT_EQ(message("GET", std::string{kConfigMaps} + "?fieldSelector=metadata.name%3Dx"),
            "configmaps \"x\" is forbidden: User \"jane\" cannot list resource \"configmaps\" in "
            "API group \"\" in the namespace \"default\"");
  EXPECT_EQ(message("PUT", "/apis/apps/v1/namespaces/n/deployments/d/status"),
            "deployments.apps \"d\" is forbidden: User \"jane\" cannot update resource "
            "\"deployments/status\" in API group \"apps\" in the namespace \"n\"");
  EXPECT_EQ(message("GET", "/api/v1/nodes?watch=1"),
            "nodes is forbidden: User \"jane\" cannot watch resource \"nodes\" in API group \"\" "
            "at the cluster scope");
  EXPECT_EQ(message("GET", "/metrics"), "forbidden: User \"jane\" cannot get path \"/metrics\"");
  recorder.reason = "because";
  EXPECT_THAT(message("DELETE", std::string{kConfigMaps} + "/a"),
              testing::EndsWith("in the namespace \"default\": because"));
}

// HE-1
TEST(Access, HealthAndVersionAreOpen) {
  Recorder recorder;
  Api api{guarded(recorder)};
  recorder.allow = false;
  for (const char* path : {"/healthz", "/livez", "/readyz", "/version"}) {
    EXPECT_EQ(api.get(path).status(), 200) << path;
  }
  for (const char* path : {"/healthz/ping", "/api", "/apis"}) {
    EXPECT_EQ(api.get(path).status(), 403) << path;
  }
}

// AU-6, AU-11
TEST(Access, Impersonation) {
  Recorder recorder;
  Api api{guarded(recorder)};
  Headers headers = bearer("secret");
  headers.push_back({"Impersonate-Group", "x"});
  EXPECT_EQ(api.send("GET", kConfigMaps, "", headers).status(), 400);
  headers.push_back({"Impersonate-User", "bob"});
  EXPECT_EQ(api.send("GET", kConfigMaps, "", headers).status(), 200);
  ASSERT_EQ(recorder.requests.size(), 3U);
  EXPECT_EQ(recorder.requests[0].verb, "impersonate");
  EXPECT_EQ(recorder.requests[0].resource, "users");
  EXPECT_EQ(recorder.requests[0].name, "bob");
  EXPECT_EQ(recorder.requests[1].resource, "groups");
  EXPECT_EQ(recorder.requests[2].user.name, "bob");
  EXPECT_THAT(recorder.requests[2].user.groups, ElementsAre("x", "system:authenticated"));

  recorder.requests.clear();
  headers = bearer("secret");
  headers.push_back({"Impersonate-User", "system:serviceaccount:ns:sa"});
  api.send("GET", kConfigMaps, "", headers);
  EXPECT_EQ(recorder.requests[0].resource, "serviceaccounts");
  EXPECT_EQ(recorder.requests[0].namespace_, "ns");
  EXPECT_THAT(
      recorder.requests[1].user.groups,
      ElementsAre("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"));

  recorder.requests.clear();
  headers = bearer("secret");
  headers.push_back({"Impersonate-Extra-Scopes", "view"});
  EXPECT_EQ(api.send("GET", kConfigMaps, "", headers).status(), 400);
  headers.push_back({"Impersonate-User", "bob"});
  headers.push_back({"Impersonate-Extra-acme.com%2Fproject", "p"});
  headers.push_back({"Content-Type", "application/json"});
  const ApiReply self =
      api.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}", headers);
  EXPECT_EQ(self.at("status.userInfo.extra"), R"({"acme.com/project":["p"],"scopes":["view"]})");
  EXPECT_EQ(recorder.requests[1].subresource, "acme.com/project");
  EXPECT_EQ(recorder.requests[2].resource, "userextras");
  EXPECT_EQ(recorder.requests[2].subresource, "scopes");
  EXPECT_EQ(recorder.requests[2].name, "view");

  recorder.requests.clear();
  headers = bearer("secret");
  headers.push_back({"Impersonate-User", "system:anonymous"});
  api.send("GET", kConfigMaps, "", headers);
  EXPECT_THAT(recorder.requests[1].user.groups, ElementsAre("system:unauthenticated"));
  recorder.allow = false;
  EXPECT_THAT(api.send("GET", kConfigMaps, "", headers).message(),
              HasSubstr("cannot impersonate resource \"users\""));
}

// SA-2
TEST(Access, ApplyThatCreatesNeedsCreatePermission) {
  Api api{{.authorize = [](const AccessRequest& access) -> AccessDecision {
    return {access.verb != "create", "not create"};
  }}};
  const ApiReply reply =
      api.send("PATCH", std::string{kConfigMaps} + "/a?fieldManager=m",
               R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})",
               {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(reply.status(), 403);
}

}  // namespace
}  // namespace kube::testkit::detail
