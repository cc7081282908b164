// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/openapi.hpp"
#include "testkit/values/value_edit.hpp"

#include "values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kube::testkit::detail {
namespace {

using test::json;
using test::text;

std::vector<Value> definitions() {
  std::vector<Value> made;
  const Value list = json(test::fixture("apiextensions.k8s.io_v1_customresourcedefinitions.json"));
  for (const Value& item : list["items"].as_array()) made.push_back(item);
  return made;
}

Value document(std::string_view path, const std::vector<Value>& crds = {}) {
  for (const OpenApiDocument& one : openapi_v3_documents(crds)) {
    if (one.path == path) return json(one.json);
  }
  return {};
}

const Value& at(const Value& value, std::initializer_list<std::string_view> keys) {
  const Value* here = &value;
  for (const std::string_view key : keys) here = &(*here)[key];
  return *here;
}

/// Checks that every reference in a document resolves.
void check_references(const Value& value, const Value& root, int& count) {
  if (value.is_array()) {
    for (const Value& element : value.as_array()) check_references(element, root, count);
  }
  if (!value.is_object()) return;
  for (const auto& [key, element] : value.as_object()) {
    check_references(element, root, count);
    if (key != "$ref" || !element.is_string()) continue;
    ++count;
    const std::string_view target = element.as_string();
    const bool v3 = target.starts_with("#/components/schemas/");
    const std::string_view name = target.substr(target.rfind('/') + 1);
    const Value& schemas = v3 ? at(root, {"components", "schemas"}) : root["definitions"];
    EXPECT_TRUE(schemas.as_object().contains(name)) << target;
  }
}

// OA-2
TEST(OpenApi, ListsADocumentPerGroupVersion) {
  const std::vector<OpenApiDocument> documents = openapi_v3_documents(definitions());
  const Value index = json(openapi_v3_index(documents));
  std::map<std::string, std::string> urls;
  for (const auto& [path, entry] : index["paths"].as_object()) {
    urls[path.str()] = std::string{entry["serverRelativeURL"].as_string()};
  }
  for (const char* path :
       {"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/coordination.k8s.io/v1",
        "apis/apiextensions.k8s.io/v1", "apis/samplecontroller.k8s.io/v1alpha1"}) {
    ASSERT_TRUE(urls.contains(path)) << path;
    EXPECT_TRUE(urls[path].starts_with("/openapi/v3/" + std::string{path} + "?hash="))
        << urls[path];
  }
  EXPECT_FALSE(urls.contains("apis/meta.k8s.io/v1"));
  EXPECT_EQ(urls["api/v1"].size(), std::string{"/openapi/v3/api/v1?hash="}.size() + 128);
  EXPECT_EQ(openapi_v3_index(openapi_v3_documents(definitions())), openapi_v3_index(documents));
}

// OA-2: compares with the recorded discovery of the same server
TEST(OpenApi, CoversEveryGroupVersionThatARealServerHas) {
  std::set<std::string> paths;
  for (const OpenApiDocument& one : openapi_v3_documents(definitions())) paths.insert(one.path);
  const Value groups = json(test::fixture("discovery_apis.json"));
  for (const Value& group : groups["items"].as_array()) {
    for (const Value& version : group["versions"].as_array()) {
      const std::string path = "apis/" + std::string{*group.get_string("metadata.name")} + '/' +
                               std::string{version["version"].as_string()};
      EXPECT_TRUE(paths.contains(path)) << path;
    }
  }
}

// OA-3, KU-4
TEST(OpenApi, HasTheFieldsThatKubectlChecksBeforeWriting) {
  for (const auto& [path, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"api/v1", "Namespace"},
           {"api/v1", "Pod"},
           {"apis/apps/v1", "Deployment"},
           {"apis/samplecontroller.k8s.io/v1alpha1", "Foo"}}) {
    const Value root = document(path, definitions());
    bool found = false;
    for (const auto& [name, item] : root["paths"].as_object()) {
      const Value& patch = item["patch"];
      if (at(patch, {"x-kubernetes-group-version-kind", "kind"}) != Value{kind}) continue;
      for (const Value& parameter : patch["parameters"].as_array()) {
        found = found || (parameter["name"] == Value{"fieldValidation"} &&
                          parameter["in"] == Value{"query"});
      }
    }
    EXPECT_TRUE(found) << kind;
  }
}

// KU-13
TEST(OpenApi, HasTheFieldsThatExplainNeeds) {
  const Value core = document("api/v1");
  EXPECT_EQ(text(at(core, {"paths", "/api/v1/namespaces/{namespace}/pods", "get",
                           "x-kubernetes-group-version-kind"})),
            R"({"group":"","kind":"Pod","version":"v1"})");
  const Value& pod = at(core, {"components", "schemas", "io.k8s.api.core.v1.Pod"});
  EXPECT_EQ(text(pod["x-kubernetes-group-version-kind"]),
            R"([{"group":"","kind":"Pod","version":"v1"}])");
  EXPECT_EQ(text(at(pod, {"properties", "spec"})),
            R"({"$ref":"#/components/schemas/io.k8s.api.core.v1.PodSpec"})");
  EXPECT_TRUE(at(core, {"paths", "/api/v1/nodes/{name}", "get"}).is_object());
  EXPECT_TRUE(at(core, {"paths", "/api/v1/pods", "get"}).is_object());
  EXPECT_TRUE(at(core, {"paths", "/api/v1/pods", "post"}).is_absent());

  const Value foos = document("apis/samplecontroller.k8s.io/v1alpha1", definitions());
  const Value& foo = at(foos, {"components", "schemas", "io.k8s.samplecontroller.v1alpha1.Foo"});
  EXPECT_EQ(text(at(foo, {"properties", "spec", "properties", "deploymentName"})),
            R"({"type":"string"})");
  EXPECT_EQ(text(foo["x-kubernetes-group-version-kind"]),
            R"([{"group":"samplecontroller.k8s.io","kind":"Foo","version":"v1alpha1"}])");
  EXPECT_TRUE(
      at(foos, {"paths",
                "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/{namespace}/foos/{name}/status",
                "patch"})
          .is_object());
}

// OA-3, PA-5, SA-8
TEST(OpenApi, HasMergeKeysAndListTypes) {
  const Value core = document("api/v1");
  const Value& containers =
      at(core, {"components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties", "containers"});
  EXPECT_EQ(
      text(containers),
      R"({"items":{"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"},"type":"array","x-kubernetes-list-map-keys":["name"],"x-kubernetes-list-type":"map","x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"})");
  EXPECT_EQ(
      text(at(core, {"components", "schemas", "io.k8s.apimachinery.pkg.api.resource.Quantity"})),
      R"({"oneOf":[{"type":"string"},{"type":"number"}]})");
  EXPECT_EQ(text(at(core, {"components", "schemas", "io.k8s.api.core.v1.LocalObjectReference",
                           "x-kubernetes-map-type"})),
            R"("atomic")");
  EXPECT_EQ(text(at(core, {"components", "schemas", "io.k8s.api.core.v1.Container", "required"})),
            R"(["name"])");
}

// OA-2
TEST(OpenApi, HasNoDanglingReference) {
  int count = 0;
  for (const OpenApiDocument& one : openapi_v3_documents(definitions())) {
    const Value root = json(one.json);
    EXPECT_EQ(root["openapi"], Value{"3.0.0"});
    check_references(root, root, count);
  }
  const Value v2 = openapi_v2(definitions());
  check_references(v2, v2, count);
  EXPECT_GT(count, 3000);
}

// OA-1
TEST(OpenApi, DescribesEverythingInVersion2) {
  const Value v2 = openapi_v2(definitions());
  EXPECT_EQ(v2["swagger"], Value{"2.0"});
  EXPECT_EQ(text(at(v2, {"definitions", "io.k8s.apimachinery.pkg.util.intstr.IntOrString"})),
            R"({"format":"int-or-string","type":"string"})");
  EXPECT_EQ(at(v2, {"definitions", "io.k8s.api.core.v1.ServiceSpec", "properties", "ports",
                    "x-kubernetes-patch-merge-key"}),
            Value{"port"});
  EXPECT_TRUE(at(v2, {"paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "patch"})
                  .is_object());
  // int-or-string has no type in version 2 of a custom resource.
  EXPECT_EQ(text(at(v2, {"definitions", "io.k8s.samplecontroller.v1alpha1.Foo", "properties",
                         "spec", "properties", "port"})),
            R"({"x-kubernetes-int-or-string":true})");
}

// OA-1: clients of version 2 refuse fields that a schema with properties does not have.
TEST(OpenApi, HasNoPropertiesInVersion2ForKindsThatPreserveUnknownFields) {
  std::vector<Value> crds = definitions();
  Value& schema = elements(crds[0]["spec"]["versions"])[0]["schema"]["openAPIV3Schema"];
  schema["x-kubernetes-preserve-unknown-fields"] = true;
  const std::string name = "io.k8s.samplecontroller.v1alpha1.Foo";

  const Value v2 = openapi_v2(crds);

  EXPECT_EQ(text(at(v2, {"definitions", name, "type"})), R"("object")");
  EXPECT_TRUE(at(v2, {"definitions", name, "properties"}).is_absent());
  EXPECT_TRUE(at(v2, {"definitions", name, "x-kubernetes-preserve-unknown-fields"}).is_absent());
  EXPECT_TRUE(at(v2, {"definitions", name, "x-kubernetes-group-version-kind"}).is_array());
}

/// Minimal protobuf parser: returns the values of one field of a message.
std::vector<std::string> fields(std::string_view message, unsigned number) {
  std::vector<std::string> found;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; at < message.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.size()) {
    const std::uint64_t key = varint();
    const std::uint64_t size = varint();
    if ((key & 7) != 2) continue;
    if (key >> 3 == number) found.emplace_back(message.substr(at, size));
    at += size;
  }
  EXPECT_EQ(at, message.size());
  return found;
}

std::string named(const std::vector<std::string>& entries, std::string_view name) {
  for (const std::string& entry : entries) {
    if (fields(entry, 1).at(0) == name) return fields(entry, 2).at(0);
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

// OA-1
TEST(OpenApi, WritesVersion2AsProtobuf) {
  const std::string bytes = openapi_v2_protobuf(openapi_v2({}));
  EXPECT_THAT(fields(bytes, 1), ::testing::ElementsAre("2.0"));
  const std::string paths = fields(bytes, 8).at(0);
  const std::string item = named(fields(paths, 2), "/api/v1/namespaces/{namespace}/pods/{name}");
  const std::string patch = fields(item, 8).at(0);
  EXPECT_EQ(fields(named(fields(patch, 13), "x-kubernetes-group-version-kind"), 2).at(0),
            R"({"group":"","kind":"Pod","version":"v1"})");
  const std::string definitions_bytes = fields(bytes, 9).at(0);
  const std::string pod_spec = named(fields(definitions_bytes, 1), "io.k8s.api.core.v1.PodSpec");
  const std::string containers = named(fields(fields(pod_spec, 25).at(0), 1), "containers");
  EXPECT_EQ(fields(named(fields(containers, 31), "x-kubernetes-patch-merge-key"), 2).at(0),
            R"("name")");
  EXPECT_EQ(fields(fields(containers, 22).at(0), 1).at(0), "array");
}

// OA-1, DI-3
TEST(OpenApi, HashesWithSha512) {
  EXPECT_EQ(etag_hash("abc"),
            "DDAF35A193617ABACC417349AE20413112E6FA4E89A97EA20A9EEEE64B55D39A2192992A274FC1A836BA3C"
            "23A3FEEBBD454D4423643CE80E2A9AC94FA54CA49F");
}

}  // namespace
}  // namespace kube::testkit::detail
