// SPDX-License-Identifier: Apache-2.0
#include "openapi.hpp"

#include "builtin.hpp"
#include "declarations.hpp"
#include "openapi_paths.hpp"
#include <kube/codec/json.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kube::gen {
namespace {

std::vector<Document> documents(const std::string& definitions) {
  const std::string text = fmt::format(R"({{"swagger": "2.0", "definitions": {}}})", definitions);
  return {{"api.json", decode_json<Value>(text)}};
}

std::string definition(const std::string& properties) {
  return fmt::format(
      R"({{"type": "object", "properties": {}, "x-kubernetes-group-version-kind":
         [{{"group": "example.com", "version": "v1", "kind": "Foo"}}]}})",
      properties);
}

TEST(FindBuiltin, KnowsTheTypesOfTheLibrary) {
  const auto pod_spec = find_builtin("io.k8s.api.core.v1.PodSpec");
  const auto list = find_builtin("io.k8s.apimachinery.pkg.apis.meta.v1.List");
  const auto time = find_builtin("io.k8s.apimachinery.pkg.apis.meta.v1.Time");

  ASSERT_TRUE(pod_spec && list && time);
  EXPECT_EQ(spell(pod_spec->shape, Site::kOutside), "kube::core::v1::PodSpec");
  EXPECT_EQ(pod_spec->header, "kube/api/core/v1.hpp");
  EXPECT_EQ(spell(list->shape, Site::kOutside), "kube::meta::v1::List_");
  EXPECT_EQ(spell(time->shape, Site::kOutside), "kube::Time");
}

TEST(FindBuiltin, TakesNothingThatIsNotAName) {
  EXPECT_FALSE(find_builtin("io.k8s.api.core.v1.Pod; int x"));
  EXPECT_FALSE(find_builtin("io.k8s.api.core.v1>\n#include <x.Pod"));
  EXPECT_FALSE(find_builtin("io.k8s.api.core.v1.class"));
  EXPECT_FALSE(find_builtin("io.k8s.api.core.Pod"));
  EXPECT_FALSE(find_builtin("io.k8s.api."));
  EXPECT_FALSE(find_builtin("com.example.v1.Pod"));
}

TEST(ReadOpenApi, EndsOnTypesThatReferToEachOther) {
  const std::vector<Package> packages =
      read_openapi(documents(fmt::format(R"({{"Foo": {},
          "A": {{"type": "object", "required": ["b"],
                 "properties": {{"b": {{"$ref": "#/definitions/B"}}}}}},
          "B": {{"type": "object", "required": ["a"],
                 "properties": {{"a": {{"$ref": "#/definitions/A"}}}}}}}})",
                                         definition(R"({"spec": {"$ref": "#/definitions/A"}})"))),
                   {"Foo"}, "");

  ASSERT_EQ(packages.at(0).structs.size(), 3U);
  int boxes = 0;
  for (const Struct& item : packages[0].structs) {
    for (const Member& member : item.members)
      boxes += member.shape.kind == Shape::Kind::kBox ? 1 : 0;
  }
  EXPECT_EQ(boxes, 1);
}

TEST(ReadOpenApi, RefusesAliasesThatReferToThemselves) {
  const auto input = documents(fmt::format(
      R"({{"Foo": {}, "L": {{"type": "array", "items": {{"$ref": "#/definitions/L"}}}}}})",
      definition(R"({"spec": {"$ref": "#/definitions/L"}})")));

  EXPECT_THROW(static_cast<void>(read_openapi(input, {"Foo"}, "")), InputError);
}

TEST(ReadOpenApi, FindsAKindByItsFullName) {
  const auto input = documents(fmt::format(R"({{"Foo": {}}})", definition("{}")));

  EXPECT_EQ(read_openapi(input, {"Foo.v1.example.com"}, "").size(), 1U);
  EXPECT_THROW(static_cast<void>(read_openapi(input, {"Foo.v2.example.com"}, "")), InputError);
  EXPECT_THROW(static_cast<void>(read_openapi(input, {"Bar"}, "")), InputError);
}

TEST(FindResource, ReadsPluralScopeAndVerbsFromPaths) {
  const Ref<Value> root = decode_json<Value>(R"({"paths": {
    "/apis/example.com/v1/namespaces/{namespace}/foos": {"post": {"x-kubernetes-action": "post",
      "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Foo"}}},
    "/apis/example.com/v1/watch/foos": {"get": {"x-kubernetes-action": "watchlist",
      "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Foo"}}}
  }})");

  const auto resource = find_resource({"api.json", *root}, {"example.com", "v1", "Foo"});

  ASSERT_TRUE(resource);
  EXPECT_EQ(resource->plural, "foos");
  EXPECT_TRUE(resource->namespaced);
  EXPECT_EQ(resource->verbs, std::vector<std::string>{"create"});
  EXPECT_EQ(resource->list_kind, "");
  EXPECT_FALSE(find_resource({"api.json", *root}, {"example.com", "v2", "Foo"}));
}

}  // namespace
}  // namespace kube::gen
