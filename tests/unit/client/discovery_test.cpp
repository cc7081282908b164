// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include "support/fixtures.hpp"

#include <kube/api/errors.hpp>
#include <kube/client/discovery.hpp>
#include <kube/client/rest_mapper.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::FakeAnswer;
using test::fixture;
using test::header;
using test::Scripted;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A server with a fixed response per path.
struct Discovering : testing::Test {
  Discovering() {
    scripted.transport->on_request([this](const HttpRequest& request) -> std::optional<FakeAnswer> {
      const auto found = paths.find(request.target);
      return found == paths.end() ? FakeAnswer::text("404 page not found", 404) : found->second;
    });
  }
  void serve_recorded(const char* content_type = kAggregated) {
    paths["/api"] = FakeAnswer::text(fixture("discovery_api.json"), 200, content_type);
    paths["/apis"] = FakeAnswer::text(fixture("discovery_apis.json"), 200, content_type);
  }
  void serve_legacy() {
    paths["/api"] = FakeAnswer::json(R"({"kind":"APIVersions","versions":["v1"]})");
    paths["/api/v1"] = FakeAnswer::json(
        R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)"
        R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],)"
        R"("shortNames":["po"],"categories":["all"]},)"
        R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy",)"
        R"("version":"v1","kind":"Eviction","verbs":["create"]}]})");
    paths["/apis"] = FakeAnswer::json(
        R"({"kind":"APIGroupList","groups":[{"name":"apps","versions":[)"
        R"({"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1",)"
        R"("version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]})");
    for (const char* version : {"v1", "v1beta1"}) {
      paths[std::string{"/apis/apps/"} + version] = FakeAnswer::json(
          std::string{R"({"kind":"APIResourceList","groupVersion":"apps/)"} + version +
          R"(","resources":[{"name":"deployments","singularName":"deployment","namespaced":true,)"
          R"("kind":"Deployment","verbs":["get"],"shortNames":["deploy"]}]})");
    }
  }
  std::vector<std::string> asked() const {
    std::vector<std::string> result;
    for (const HttpRequest& request : scripted.transport->requests())
      result.push_back(request.target);
    return result;
  }

  std::map<std::string, FakeAnswer> paths;
  Scripted scripted;
};

const DiscoveredResource* find(const DiscoveredApi& api, const GroupVersionResource& wanted) {
  for (const DiscoveredGroup& group : api.groups) {
    for (const DiscoveredVersion& version : group.versions) {
      for (const DiscoveredResource& one : version.resources) {
        if (one.resource == wanted) return &one;
      }
    }
  }
  return nullptr;
}

// RC-60
TEST_F(Discovering, ReadsTheAggregatedForm) {
  // The order of parameters does not matter.
  serve_recorded("application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io");
  const DiscoveredApi api = Discovery{scripted.client()}.fetch();
  EXPECT_THAT(asked(), ElementsAre("/api", "/apis"));
  const auto requests = scripted.transport->requests();
  EXPECT_EQ(
      header(requests.front(), "Accept"),
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json");
  EXPECT_EQ(requests.front().timeout, 32s);

  EXPECT_TRUE(api.failures.empty());
  EXPECT_EQ(api.groups.front().name, "");
  const DiscoveredResource* pods = find(api, {"", "v1", "pods"});
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->kind, (GroupVersionKind{"", "v1", "Pod"}));
  EXPECT_TRUE(pods->namespaced);
  EXPECT_THAT(pods->short_names, ElementsAre("po"));
  const auto eviction =
      std::ranges::find(pods->subresources, "eviction", &DiscoveredSubresource::name);
  ASSERT_NE(eviction, pods->subresources.end());
  EXPECT_EQ(eviction->kind, (GroupVersionKind{"policy", "v1", "Eviction"}));
  EXPECT_FALSE(find(api, {"", "v1", "nodes"})->namespaced);
  EXPECT_NE(find(api, {"apps", "v1", "deployments"}), nullptr);
}

// RC-60
TEST_F(Discovering, ReadsTheLegacyForm) {
  serve_legacy();
  const DiscoveredApi api = Discovery{scripted.client()}.fetch();
  EXPECT_THAT(asked(),
              ElementsAre("/api", "/api/v1", "/apis", "/apis/apps/v1", "/apis/apps/v1beta1"));
  const DiscoveredResource* pods = find(api, {"", "v1", "pods"});
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->subresources.front().name, "eviction");
  EXPECT_EQ(pods->subresources.front().kind, (GroupVersionKind{"policy", "v1", "Eviction"}));
  EXPECT_EQ(api.groups.back().versions.front().version, "v1") << "the preferred one first";
}

// RC-60: a burst of 300, instead of 10 for other requests.
TEST_F(Discovering, AllowsALargeBurst) {
  scripted.config.qps = 0;
  serve_recorded();
  const Discovery discovery{scripted.client()};
  for (int i = 0; i < 100; ++i) (void)discovery.fetch();
  EXPECT_THAT(scripted.clock.sleeps(), testing::IsEmpty());
}

// RC-61
TEST_F(Discovering, DoesWithoutTheCoreGroup) {
  serve_recorded();
  paths.erase("/api");
  const DiscoveredApi api = Discovery{scripted.client()}.fetch();
  EXPECT_EQ(find(api, {"", "v1", "pods"}), nullptr);
  EXPECT_NE(find(api, {"apps", "v1", "deployments"}), nullptr);
}

// RC-61
TEST_F(Discovering, FailsWithAnyOtherError) {
  serve_recorded();
  paths["/api"] = FakeAnswer::json(test::status_json(403, "Forbidden"), 403);
  EXPECT_TRUE(is_forbidden(test::api_error([&] { (void)Discovery{scripted.client()}.fetch(); })));
  serve_recorded();
  paths.erase("/apis");
  EXPECT_THROW((void)Discovery{scripted.client()}.fetch(), ApiError);
  paths["/apis"] = FakeAnswer::text("<html>", 200, "text/html");
  EXPECT_THROW((void)Discovery{scripted.client()}.fetch(), ApiError);
}

// RC-61
TEST_F(Discovering, ReportsStaleGroupVersions) {
  paths["/apis"] = FakeAnswer::text(
      R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
      R"({"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1","freshness":"Current",)"
      R"("resources":[]},{"version":"v1beta1","freshness":"Stale"}]}]})",
      200, kAggregated);
  const DiscoveredApi api = Discovery{scripted.client()}.fetch();
  ASSERT_EQ(api.failures.size(), 1U);
  EXPECT_EQ(api.failures.front().group_version, (GroupVersion{"metrics.k8s.io", "v1beta1"}));
  EXPECT_THAT(api.failure_text(), HasSubstr("metrics.k8s.io/v1beta1: "));
  EXPECT_EQ(api.groups.front().versions.size(), 1U);
  EXPECT_THAT(asked(), ElementsAre("/api", "/apis", "/api", "/apis")) << "asked twice";
}

// RC-61
TEST_F(Discovering, ReturnsPartialResultsOnFailure) {
  serve_legacy();
  paths["/apis/apps/v1beta1"] = FakeAnswer::text("no backend", 503);
  const DiscoveredApi api = Discovery{scripted.client()}.fetch();
  ASSERT_EQ(api.failures.size(), 1U);
  EXPECT_THAT(api.failure_text(), HasSubstr("apps/v1beta1: "));
  EXPECT_NE(find(api, {"apps", "v1", "deployments"}), nullptr);
  EXPECT_EQ(asked().size(), 10U) << "two sweeps";

  paths["/apis/apps/v1beta1"] = FakeAnswer::json("[");
  EXPECT_EQ(Discovery{scripted.client()}.fetch().failures.size(), 1U);
}

TEST_F(Discovering, FetchesTheVersionOfTheServer) {
  paths["/version"] = FakeAnswer::json(fixture("version.json"));
  const ServerVersion version = Discovery{scripted.client()}.server_version();
  EXPECT_EQ(version.git_version, "v1.36.4");
  EXPECT_EQ(version.minor, "36");
  paths["/version"] = FakeAnswer::json(R"({"major":1})");
  EXPECT_EQ(Discovery{scripted.client()}.server_version().major, "");
}

TEST_F(Discovering, FetchesTheHealthOfTheServer) {
  paths["/readyz?verbose="] = FakeAnswer::text("[+]ping ok", 200);
  const Discovery discovery{scripted.client()};
  EXPECT_TRUE(discovery.health().ok);
  paths["/readyz?verbose="] = FakeAnswer::text("[+]ping ok\n[-]etcd failed", 500);
  const ServerHealth sick = discovery.health();
  EXPECT_FALSE(sick.ok);
  EXPECT_THAT(sick.text, HasSubstr("[-]etcd failed"));
  EXPECT_THROW((void)discovery.health("/livez"), ApiError) << "404";
}

struct Mapping : Discovering {
  Mapping() { serve_recorded(); }
};

TEST_F(Mapping, FindsResourcesByKind) {
  RestMapper mapper{scripted.client()};
  const RestMapping found = mapper.for_kind({"apps", "v1", "Deployment"});
  EXPECT_EQ(found.resource, (GroupVersionResource{"apps", "v1", "deployments"}));
  EXPECT_TRUE(found.namespaced);
  EXPECT_EQ(mapper.for_kind({"autoscaling", "", "HorizontalPodAutoscaler"}).resource.version, "v2");
  EXPECT_FALSE(mapper.for_kind({"", "v1", "Node"}).namespaced);
  EXPECT_EQ(asked().size(), 2U) << "asked only once";
}

TEST_F(Mapping, FindsResourcesByNamesThatUsersType) {
  RestMapper mapper{scripted.client()};
  const auto name_of = [&](const char* text) { return to_string(mapper.for_text(text).resource); };
  EXPECT_EQ(name_of("pods"), "/v1, Resource=pods");
  EXPECT_EQ(name_of("Pod"), "/v1, Resource=pods");
  EXPECT_EQ(name_of("po"), "/v1, Resource=pods");
  EXPECT_EQ(name_of("deploy"), "apps/v1, Resource=deployments");
  EXPECT_EQ(name_of("deployments.apps"), "apps/v1, Resource=deployments");
  EXPECT_EQ(name_of("deployments.v1.apps"), "apps/v1, Resource=deployments");
  EXPECT_EQ(name_of("hpa.v1.autoscaling"), "autoscaling/v1, Resource=horizontalpodautoscalers");
  EXPECT_EQ(name_of("leases.coordination.k8s.io"), "coordination.k8s.io/v1, Resource=leases");
  EXPECT_EQ(name_of("events.v1.events.k8s.io"), "events.k8s.io/v1, Resource=events");
  EXPECT_EQ(name_of("events"), "/v1, Resource=events");
  for (const char* nonsense : {"", ".", "pods.apps", "unicorns", "deployments.v9.apps"}) {
    EXPECT_THROW((void)mapper.for_text(nonsense), NoMatchError) << nonsense;
  }
  EXPECT_EQ(mapper.for_resource({"", "", "svc"}).kind.kind, "Service");
  EXPECT_EQ(mapper.for_resource({"apps", "v1", "deployments"}).kind.kind, "Deployment");
}

TEST_F(Mapping, RepeatsDiscoveryForMissingKindsButNotTooOften) {
  RestMapper mapper{scripted.client()};
  EXPECT_THROW((void)mapper.for_text("bars"), NoMatchError);
  EXPECT_THROW((void)mapper.for_text("bars"), NoMatchError);
  EXPECT_EQ(asked().size(), 2U) << "it has just been asked";

  serve_legacy();
  paths["/api/v1"] = FakeAnswer::json(
      R"({"kind":"APIResourceList","resources":[{"name":"bars","singularName":"bar","kind":"Bar"}]})");
  scripted.clock.advance(10s);
  EXPECT_EQ(mapper.for_text("bars").kind.kind, "Bar");

  mapper.reset();
  const std::size_t before = asked().size();
  (void)mapper.api();
  EXPECT_GT(asked().size(), before);
}

TEST_F(Mapping, NamesGroupVersionsWhoseDiscoveryFailed) {
  serve_legacy();
  paths["/apis/apps/v1"] = FakeAnswer::text("no backend", 503);
  RestMapper mapper{scripted.client()};
  try {
    (void)mapper.for_kind({"apps", "v1", "Deployment"});
    FAIL();
  } catch (const NoMatchError& error) {
    EXPECT_THAT(error.what(), HasSubstr("apps/v1, Kind=Deployment"));
    EXPECT_THAT(error.what(), HasSubstr("discovery failed for apps/v1: "));
  }
}

}  // namespace
}  // namespace kube
