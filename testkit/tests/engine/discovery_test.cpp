// SPDX-License-Identifier: Apache-2.0
#include <kube/api/apidiscovery/v2.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "engine_fixture.hpp"
#include "support/fixtures.hpp"

namespace kube::testkit::detail {
namespace {

using test::fixture;
using testing::HasSubstr;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

// DI-1
TEST(Discovery, LegacyForm) {
  Api api;
  const ApiReply core = api.send("GET", "/api", "", {{"Host", "example:1"}});
  EXPECT_THAT(core.text(), testing::StartsWith(R"({"kind":"APIVersions","versions":["v1"],)"));
  EXPECT_EQ(core.at("serverAddressByClientCIDRs[0].serverAddress"), "example:1");
  const ApiReply groups = api.get("/apis");
  EXPECT_EQ(groups.at("kind"), "APIGroupList");
  EXPECT_EQ(groups.at("groups[1].name"), "apps");
  EXPECT_EQ(groups.at("groups[5].preferredVersion.groupVersion"), "autoscaling/v2");  // DI-4
  EXPECT_EQ(api.get("/apis/apps").at("kind"), "APIGroup");
  EXPECT_EQ(groups.header("ETag"), "");

  const ApiReply list = api.get("/apis/apps/v1");
  EXPECT_EQ(list.at("groupVersion"), "apps/v1");
  std::map<std::string, Value> resources;
  for (const Value& one : list.json->get_array("resources")) {
    resources[std::string{one["name"].as_string()}] = one;
  }
  EXPECT_EQ(resources["deployments"].get_string("kind"), "Deployment");
  EXPECT_EQ(resources["deployments"].get_string("singularName"), "deployment");
  EXPECT_EQ(resources["deployments"].get_array("shortNames")[0], Value{"deploy"});
  EXPECT_EQ(resources["deployments"].get_string("storageVersionHash")->size(), 12U);
  EXPECT_EQ(resources["deployments/scale"].get_string("kind"), "Scale");
  EXPECT_EQ(resources["deployments/scale"].get_string("group"), "autoscaling");
  EXPECT_EQ(resources["deployments/scale"].get_string("version"), "v1");
  EXPECT_EQ(resources["deployments/status"].get_string("kind"), "Deployment");
}

/// Returns the groups of an aggregated response by name, and their resources by version and name.
std::map<std::string, Value> by_resource(const Value& document) {
  std::map<std::string, Value> all;
  for (const Value& group : document.get_array("items")) {
    for (const Value& version : group.get_array("versions")) {
      for (const Value& resource : version.get_array("resources")) {
        all[std::string{group.get_string("metadata.name").value_or("")} + "/" +
            std::string{version["version"].as_string()} + "/" +
            std::string{resource["resource"].as_string()}] = resource;
      }
    }
  }
  return all;
}

// DI-2
TEST(Discovery, AggregatedFormMatchesARealServer) {
  Api api;
  for (const char* name : {"api", "apis"}) {
    const Ref<Value> real = parse_json(fixture(std::string{"discovery_"} + name + ".json"));
    const ApiReply reply = api.get(std::string{"/"} + name, kAggregated);
    ASSERT_EQ(reply.status(), 200);
    EXPECT_EQ(reply.header("Content-Type"),
              "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    std::map<std::string, Value> expected = by_resource(*real);
    std::erase_if(expected,
                  [](const auto& entry) { return entry.first.starts_with("samplecontroller"); });
    const std::map<std::string, Value> actual = by_resource(*reply.json);
    for (const auto& [key, resource] : expected) {
      ASSERT_TRUE(actual.contains(key)) << key;
      EXPECT_EQ(json_text(actual.at(key)), json_text(resource)) << key;
    }
    EXPECT_EQ(actual.size(), expected.size());
    EXPECT_EQ(reply.at("items[0].metadata"),
              name == std::string{"api"} ? "{}" : json_text((*real)["items"][0]["metadata"]));
  }
}

// DI-2
TEST(Discovery, AggregatedFormOfCustomResources) {
  Api api;
  api.post(
      kDefinitions,
      R"({"metadata":{"name":"foos.samplecontroller.k8s.io","annotations":{"api-approved.kubernetes.io":"unapproved"}},)"
      R"("spec":{"group":"samplecontroller.k8s.io","scope":"Namespaced","names":{"plural":"foos","kind":"Foo","shortNames":["fo"]},)"
      R"("versions":[{"name":"v1alpha1","served":true,"storage":true,"subresources":{"status":{}},)"
      R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  ASSERT_TRUE(api.engine.settle());
  const auto expected = by_resource(*parse_json(fixture("discovery_apis.json")));
  const auto actual = by_resource(*api.get("/apis", kAggregated).json);
  const std::string key = "samplecontroller.k8s.io/v1alpha1/foos";
  ASSERT_TRUE(actual.contains(key));
  EXPECT_EQ(json_text(actual.at(key)), json_text(expected.at(key)));
}

// DI-5
TEST(Discovery, HashesTheStorageVersion) {
  Api api;
  api.make_widgets();
  const auto hash_of = [&](const std::string& path, std::string_view name) {
    const ApiReply reply = api.get(path);
    for (const Value& resource : reply.json->get_array("resources")) {
      if (resource["name"] == Value{name}) {
        return std::string{resource.get_string("storageVersionHash").value_or("")};
      }
    }
    return std::string{"not found"};
  };

  EXPECT_EQ(hash_of("/api/v1", "configmaps"), "qFsyl6wFWjQ=");
  // The first eight bytes of the SHA-256 of example.com/v1/Widget.
  EXPECT_EQ(hash_of("/apis/example.com/v1", "widgets"), "gIwvi5rymmg=");
}

// DI-2, DI-3
TEST(Discovery, AggregatedAnswersAreCached) {
  Api api;
  const ApiReply first = api.get("/apis", kAggregated);
  const std::string etag = first.header("ETag");
  EXPECT_THAT(etag, testing::MatchesRegex("\"[0-9A-F]{128}\""));
  EXPECT_EQ(first.header("Vary"), "Accept");
  EXPECT_EQ(first.header("Cache-Control"), "public");
  const ApiReply same =
      api.send("GET", "/apis", "", {{"Accept", kAggregated}, {"If-None-Match", etag}});
  EXPECT_EQ(same.status(), 304);
  EXPECT_EQ(same.text(), "");
  const ApiReply protobuf = api.get(
      "/apis",
      "application/vnd.kubernetes.protobuf;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList");
  EXPECT_EQ(protobuf.header("ETag"), etag);
  EXPECT_EQ(
      protobuf.header("Content-Type"),
      "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_GT(decode_protobuf<apidiscovery::v2::APIGroupDiscoveryList>(protobuf.text())->items.size(),
            15U);
  api.make_widgets();
  EXPECT_NE(api.get("/apis", kAggregated).header("ETag"), etag);

  const std::string old =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  EXPECT_EQ(api.get("/apis", old).status(), 406);
  EXPECT_EQ(api.get("/apis", old + ",application/json").at("kind"), "APIGroupList");
}

// OA-1, OA-2
TEST(OpenApi, IsServedWithHashes) {
  Api api;
  const ApiReply v2 = api.get("/openapi/v2");
  EXPECT_EQ(v2.status(), 200);
  const std::string etag = v2.header("ETag");
  EXPECT_EQ(api.send("GET", "/openapi/v2", "", {{"If-None-Match", etag}}).status(), 304);
  EXPECT_THAT(api.get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
                  .header("Content-Type"),
              HasSubstr("protobuf"));

  EXPECT_EQ(api.get("/openapi/v3").header("Content-Type"), "text/plain; charset=utf-8");
  const ApiReply document = api.get("/openapi/v3/api/v1");
  EXPECT_EQ(document.status(), 200);
  std::string hash = document.header("ETag");
  hash = hash.substr(1, hash.size() - 2);
  const ApiReply right = api.get("/openapi/v3/api/v1?hash=" + hash + "&timeout=32s");
  EXPECT_EQ(right.header("Cache-Control"), "public, immutable");
  EXPECT_EQ(right.header("Expires"), "Fri, 01 Jan 2027 00:00:00 GMT");
  const ApiReply wrong = api.get("/openapi/v3/api/v1?hash=wrong");
  EXPECT_EQ(wrong.status(), 301);
  EXPECT_EQ(wrong.header("Location"), "/openapi/v3/api/v1?hash=" + hash);
  EXPECT_EQ(api.get("/openapi/v3/apis/none").status(), 404);
}

}  // namespace
}  // namespace kube::testkit::detail
