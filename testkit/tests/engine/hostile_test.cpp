// SPDX-License-Identifier: Apache-2.0
// No input from the network makes the engine throw, crash or send a malformed response.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  template <std::size_t N>
  std::string pick(const char* const (&texts)[N]) {
    return texts[below(N)];
  }
  /// Returns the text with a few bytes changed, removed or duplicated.
  std::string damage(std::string text) {
    for (std::size_t i = below(4); i > 0 && !text.empty(); --i) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, text.substr(at, below(20)));
          break;
        default:
          text.resize(at);
      }
    }
    return text;
  }

 private:
  std::mt19937 engine_;
};

constexpr const char* kMethods[] = {"GET",   "GET",   "POST",   "POST", "PUT",
                                    "PATCH", "PATCH", "DELETE", "HEAD", "X"};
constexpr const char* kPaths[] = {
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/a",
    "/api/v1/pods",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces",
    "/api/v1/namespaces/a",
    "/api/v1/namespaces/a/finalize",
    "/api/v1/nodes/a/status",
    "/apis/apps/v1/namespaces/default/deployments/a",
    "/apis/apps/v1/namespaces/default/deployments/a/scale",
    "/apis/apps/v1/namespaces/default/deployments",
    "/api/v1/namespaces/default/pods/a/eviction",
    "/api/v1/namespaces/default/pods/a/binding",
    "/api/v1/namespaces/default/events",
    "/apis/events.k8s.io/v1/namespaces/default/events/a",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
    "/apis/example.com/v1/namespaces/default/widgets",
    "/apis/example.com/v1/namespaces/default/widgets/a",
    "/apis/example.com/v1/namespaces/default/widgets/a/scale",
    "/apis",
    "/api",
    "/openapi/v3",
    "/version",
    "/readyz",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/api/v1/namespaces/default/serviceaccounts/a/token",
    "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    "/api/v1/watch/namespaces/default/pods/a",
    "/apis/policy/v1/namespaces/default/poddisruptionbudgets/a",
    "/api/v1/namespaces/default/services/a"};
constexpr const char* kQueries[] = {"",
                                    "",
                                    "",
                                    "watch=1",
                                    "limit=1",
                                    "continue=x",
                                    "resourceVersion=0",
                                    "resourceVersion=x",
                                    "labelSelector=a%3Db",
                                    "labelSelector=((",
                                    "fieldSelector=metadata.name%3Da",
                                    "fieldSelector=%5C",
                                    "dryRun=All",
                                    "fieldManager=m",
                                    "fieldManager=m&force=1",
                                    "fieldValidation=Strict",
                                    "propagationPolicy=Orphan",
                                    "resourceVersionMatch=Exact&resourceVersion=5",
                                    "sendInitialEvents=1&resourceVersionMatch=NotOlderThan",
                                    "includeObject=Object",
                                    "pretty=1",
                                    "timeout=1h",
                                    "gracePeriodSeconds=-1",
                                    "%zz=%"};
constexpr const char* kBodies[] = {
    "",
    "{}",
    "[]",
    "null",
    "5",
    R"({"metadata":null})",
    R"({"metadata":[]})",
    R"({"metadata":{"name":"a"}})",
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}})",
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":["x.io/a"]},"data":{"a":"b"}})",
    R"({"metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})",
    R"([{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"remove","path":"/spec"}])",
    R"([{"op":"replace","path":"/metadata","value":5}])",
    R"({"spec":null,"status":{"phase":5}})",
    R"({"spec":[1]})",
    R"({"metadata":{"ownerReferences":[{"uid":5}],"managedFields":[{}]}})",
    R"({"spec":{"replicas":3}})",
    R"({"propagationPolicy":"Foreground","preconditions":{"uid":"x"}})",
    R"({"metadata":{"resourceVersion":"x"}})",
    R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":5,"x":{}}})",
    R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}})",
    R"({"target":{"name":"n"},"metadata":{"name":"a"}})",
    R"({"spec":{"selector":{"matchExpressions":[{"key":"","operator":"Wrong"}]}}})",
    R"({"metadata":{"name":"a"},"spec":{"versions":[{}],"names":5}})"};
constexpr const char* kTypes[] = {"application/json",
                                  "application/json",
                                  "application/yaml",
                                  "",
                                  "application/vnd.kubernetes.protobuf",
                                  "application/json-patch+json",
                                  "application/merge-patch+json",
                                  "application/strategic-merge-patch+json",
                                  "application/apply-patch+yaml",
                                  "text/plain"};
constexpr const char* kAccepts[] = {
    "",
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    ";;,q=",
    "text/*"};

TEST(Hostile, RandomRequestsAlwaysGetAResponse) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Api api{{.garbage_collection = true}};
    Dice dice{seed};
    // Requests for a future version would wait for a clock that does not advance.
    std::jthread time{[&](std::stop_token stop) {
      while (!stop.stop_requested()) {
        api.clock.advance(std::chrono::seconds{3});
        std::this_thread::yield();
      }
    }};
    for (int i = 0; i < 3000; ++i) {
      std::string target =
          dice.pick(kPaths) + "?" + dice.pick(kQueries) + "&" + dice.pick(kQueries);
      if (dice.below(8) == 0) target = dice.damage(target);
      std::string body = dice.pick(kBodies);
      if (dice.below(4) == 0) body = dice.damage(body);
      const std::string method = dice.pick(kMethods);
      ServerRequest request;
      request.method = method;
      request.target = target;
      request.headers = {{"Content-Type", dice.pick(kTypes)}, {"Accept", dice.pick(kAccepts)}};
      request.body = body;
      ServerResponse response = api.engine.handle(request);
      EXPECT_GE(response.status, 200) << method << ' ' << target;
      EXPECT_LT(response.status, 600);
      if (response.status == 500) {
        EXPECT_EQ(response.body.find("bad_alloc"), std::string::npos)
            << method << ' ' << target << ' ' << body;
      }
      for (int polls = 0; response.stream && polls < 5; ++polls) response.stream->poll([] {});
    }
    EXPECT_TRUE(api.engine.settle());
  }
}

// Invalid UTF-8 in a request must not make the response undecodable.
TEST(Hostile, ResponsesAreAlwaysUtf8) {
  Api api;
  api.make_config_map("a");

  const ApiReply unknown = api.get(std::string{kConfigMaps} + "/%ff%c3%28x%e2%82%ac");
  const ApiReply patched =
      api.patch(std::string{kConfigMaps} + "/a?fieldManager=m", "\xb2{\"\x85", "apply-patch+yaml");

  EXPECT_EQ(unknown.status(), 404);
  EXPECT_EQ(unknown.message(), "configmaps \"\uFFFD\uFFFD(x\u20AC\" not found");
  EXPECT_EQ(patched.status(), 400) << patched.text();
  EXPECT_NE(patched.message(), "");
}

}  // namespace
}  // namespace kube::testkit::detail
