// SPDX-License-Identifier: Apache-2.0
// Media types, transforms and errors.
#include <kube/api/core/v1.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>

#include "engine_fixture.hpp"
#include "testkit/requests/negotiation.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

// CT-1, KU-6
TEST(Content, BodiesAreAcceptedInThreeFormats) {
  Api api;
  core::v1::ConfigMap map;
  map.metadata.name = "p";
  map.data["k"] = "v";
  EXPECT_EQ(
      api.send("POST", kConfigMaps, encode_protobuf(map), {{"Content-Type", kProtobuf}}).status(),
      201);
  EXPECT_EQ(api.send("POST", kConfigMaps, "metadata: {name: yam}\ndata: {k: v}\n",
                     {{"Content-Type", "application/yaml; charset=utf-8"}})
                .status(),
            201);
  EXPECT_EQ(api.send("POST", kConfigMaps, R"({"metadata":{"name":"j"}})").status(), 201);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/p").at("data.k"), "v");

  for (const char* type : {"text/plain", "*/*", "application/xml"}) {
    const ApiReply refused = api.send("POST", kConfigMaps, "{}", {{"Content-Type", type}});
    EXPECT_EQ(refused.status(), 415);
    EXPECT_THAT(
        refused.message(),
        HasSubstr("application/json, application/yaml, application/vnd.kubernetes.protobuf"));
  }
  EXPECT_EQ(api.post(kConfigMaps, "{").status(), 400);
  EXPECT_EQ(api.post(kConfigMaps, "").status(), 400);
  EXPECT_EQ(api.post(kConfigMaps, "[]").status(), 400);
  EXPECT_EQ(api.post(kConfigMaps, R"({"metadata":{"name":"x"},"data":5})").status(), 400);
  EXPECT_EQ(api.send("POST", kConfigMaps, "k8s?", {{"Content-Type", kProtobuf}}).status(), 400);
}

// CT-1
TEST(Content, ProtobufBodiesAreTreatedLikeJson) {
  Api api;
  const auto post = [&](const char* path, const auto& object) {
    return api.send("POST", path, encode_protobuf(object), {{"Content-Type", kProtobuf}});
  };
  core::v1::Secret secret;
  secret.metadata.name = "s";
  secret.string_data["a"] = "x";
  EXPECT_EQ(post(kSecrets, secret).at("data"), R"({"a":"eA=="})");
  EXPECT_THAT(api.get(std::string{kSecrets} + "/s").text(), Not(HasSubstr("stringData")));

  core::v1::Pod pod;
  pod.metadata.name = "p";
  auto& container = pod.spec.containers.emplace_back();
  container.name = "c";
  container.image = "i";
  container.resources.requests["cpu"] = Quantity{"0.1"};
  EXPECT_EQ(post(kPods, pod).at("spec.containers[0].resources.requests.cpu"), "100m");
}

// CT-2
TEST(Content, AcceptIsHonoured) {
  Api api;
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  EXPECT_EQ(api.get(path, "*/*").header("Content-Type"), "application/json");
  EXPECT_EQ(api.get(path, "application/yaml").header("Content-Type"), "application/yaml");
  EXPECT_EQ(api.get(path, "application/json;q=0.5,application/yaml").header("Content-Type"),
            "application/yaml");
  EXPECT_EQ(api.get(path, "text/html, application/json").header("Content-Type"),
            "application/json");
  for (const char* type : {"application/*", "text/html"}) {
    const ApiReply refused = api.get(path, type);
    EXPECT_EQ(refused.status(), 406);
    EXPECT_EQ(refused.reason(), "NotAcceptable");
    EXPECT_EQ(refused.header("Content-Type"), "application/json");
    EXPECT_THAT(refused.message(), HasSubstr("application/yaml"));
  }
}

// CT-5, CT-8
TEST(Content, ProtobufHasAnEnvelope) {
  Api api;
  api.make_config_map("a");
  const ApiReply one = api.get(std::string{kConfigMaps} + "/a", kProtobuf);
  EXPECT_EQ(one.header("Content-Type"), kProtobuf);
  const Envelope envelope = open_envelope(one.text());
  EXPECT_EQ(envelope.kind, "ConfigMap");
  EXPECT_EQ(decode_protobuf<core::v1::ConfigMap>(one.text())->metadata.name, "a");
  const ApiReply list = api.get(kConfigMaps, kProtobuf);
  EXPECT_EQ(open_envelope(list.text()).kind, "ConfigMapList");
  const auto decoded = decode_protobuf<core::v1::ConfigMapList>(list.text());
  EXPECT_EQ(decoded->items.size(), 1U);
  EXPECT_EQ(decoded->metadata.resource_version, std::to_string(api.engine.revision()));
}

// CT-6, ER-1
TEST(Content, ErrorsFollowTheAcceptHeader) {
  Api api;
  const ApiReply json = api.get(std::string{kConfigMaps} + "/x");
  EXPECT_EQ(
      json.text(),
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"configmaps"},"code":404})"
      "\n");
  const ApiReply protobuf = api.get(std::string{kConfigMaps} + "/x", kProtobuf);
  EXPECT_EQ(decode_protobuf<meta::v1::Status>(protobuf.text())->code, 404);
  EXPECT_EQ(open_envelope(protobuf.text()).kind, "Status");
}

// CT-3, TB-5
TEST(Content, PartialMetadata) {
  Api api;
  const ApiReply made = api.make_config_map("a");
  const std::string one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const std::string list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  const ApiReply partial = api.get(std::string{kConfigMaps} + "/a", one);
  EXPECT_EQ(partial.at("kind"), "PartialObjectMetadata");
  EXPECT_EQ(partial.at("apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(partial.at("metadata"), made.at("metadata"));
  EXPECT_THAT(partial.text(), Not(HasSubstr("\"data\"")));
  EXPECT_EQ(api.get(kConfigMaps, list).at("items[0].kind"), "PartialObjectMetadata");
  EXPECT_EQ(api.get(kConfigMaps, one).status(), 406);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a", list).status(), 406);
  EXPECT_EQ(api.get(kConfigMaps, "application/json;as=Cake;g=meta.k8s.io;v=v1,application/json")
                .at("kind"),
            "ConfigMapList");
  EXPECT_EQ(api.get(kConfigMaps, "application/json;as=Cake;g=meta.k8s.io;v=v1").status(), 406);
}

// TB-1, TB-2, CT-3, KU-2
TEST(Content, Tables) {
  Api api;
  api.make_config_map("a");
  api.make_config_map("b");
  const std::string accept =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/"
      "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
  const ApiReply table = api.get(std::string{kConfigMaps} + "?limit=1", accept);
  EXPECT_THAT(
      table.text(),
      StartsWith(
          R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":")"));
  EXPECT_NE(table.at("metadata.continue"), "");
  EXPECT_EQ(table.at("rows[0].cells[0]"), "a");
  EXPECT_EQ(table.at("rows[0].object.kind"), "PartialObjectMetadata");
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?includeObject=None", accept).at("rows[0].object"),
            "");
  EXPECT_EQ(
      api.get(std::string{kConfigMaps} + "?includeObject=Object", accept).at("rows[0].object.kind"),
      "ConfigMap");
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?includeObject=All", accept).status(), 400);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/a", accept).at("rows[0].cells[0]"), "a");
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/x", accept).at("kind"), "Status");
  EXPECT_EQ(
      api.get(kConfigMaps, "application/json;as=Table;v=v1beta1;g=meta.k8s.io").at("apiVersion"),
      "meta.k8s.io/v1beta1");
  EXPECT_EQ(api.get(kConfigMaps, "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io")
                .status(),
            406);
  EXPECT_EQ(api.send("POST", kConfigMaps, R"({"metadata":{"name":"c"}})", {{"Accept", accept}})
                .at("kind"),
            "Table");
}

// RQ-10
TEST(Content, PrettyResponses) {
  Api api;
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  EXPECT_THAT(api.get(path).text(), testing::EndsWith("}\n"));
  EXPECT_THAT(api.get(path + "?pretty=true").text(), StartsWith("{\n  \"kind\": \"ConfigMap\","));
  EXPECT_THAT(api.get(path + "?pretty=true").text(), testing::EndsWith("\n}"));
  EXPECT_THAT(api.send("GET", path, "", {{"User-Agent", "curl/8"}}).text(), StartsWith("{\n"));
  EXPECT_THAT(api.send("GET", path + "?pretty=0", "", {{"User-Agent", "curl/8"}}).text(),
              StartsWith("{\"kind\""));
  EXPECT_THAT(api.get(std::string{kConfigMaps} + "/x?pretty=1").text(),
              StartsWith("{\n  \"kind\": \"Status\","));
  EXPECT_EQ(indent_json(R"({"a":[],"b":{},"c":"x:,{"})"),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": \"x:,{\"\n}");
}

}  // namespace
}  // namespace kube::testkit::detail
