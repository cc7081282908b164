// SPDX-License-Identifier: Apache-2.0
#include "custom_resource/expected/foo.hpp"
#include "features/expected/features.hpp"
#include "hostile/expected/hostile.hpp"
#include "openapi/expected/depot.hpp"
#include "versions/expected/versions.hpp"
#include <kube/codec/json.hpp>

#include <gtest/gtest.h>

#include <type_traits>

/// Defined in another source that includes the same headers.
const kube::Type& type_of_foo_elsewhere();

namespace {

using golden::features::v1::Train;
using samplecontroller::v1alpha1::Foo;
using samplecontroller::v1alpha1::FooList;

static_assert(std::is_aggregate_v<Foo>);
static_assert(std::is_standard_layout_v<Train>);  // offsetof is defined for it
static_assert(Foo::kube_resource.plural == "foos");

TEST(GeneratedHeader, IsOneDefinitionInTwoSources) {
  EXPECT_EQ(&kube::type_of<Foo>(), &type_of_foo_elsewhere());
}

TEST(GeneratedHeader, WritesWhatIsSet) {
  const Foo foo{.metadata = {.name = "a"}, .spec = {.deployment_name = "d", .replicas = 1}};

  EXPECT_EQ(
      kube::encode_json(foo),
      R"({"kind":"Foo","apiVersion":"samplecontroller.k8s.io/v1alpha1","metadata":{"name":"a"},)"
      R"("spec":{"deploymentName":"d","replicas":1}})");
}

TEST(GeneratedHeader, ReadsBackWhatItWrote) {
  const Foo foo{.metadata = {.name = "a"}, .status = {.available_replicas = 0}};

  EXPECT_EQ(*kube::decode_json<Foo>(kube::encode_json(foo)), foo);
}

TEST(GeneratedHeader, TellsAnUnsetListFromAnEmptyOne) {
  Train train;
  EXPECT_EQ(kube::encode_json(train).find("route"), std::string::npos);

  train.spec.route = kube::List<golden::features::v1::TrainSpecRouteItem>(
      std::initializer_list<golden::features::v1::TrainSpecRouteItem>{});

  EXPECT_NE(kube::encode_json(train).find(R"("route":[])"), std::string::npos);
}

TEST(GeneratedHeader, DescribesListsOfItsKinds) {
  EXPECT_EQ(kube::type_of<FooList>().name, "FooList");
  EXPECT_EQ(kube::type_of<FooList>().api_version, "samplecontroller.k8s.io/v1alpha1");
}

TEST(GeneratedHeader, KeepsHostileNamesInJson) {
  evil::v1_namespace_x::EvilIntKindStructKind evil;
  evil.a_int_injected_1 = "x";
  evil.class_ = "y";

  const kube::Ref<kube::Value> json = kube::decode_json<kube::Value>(kube::encode_json(evil));

  EXPECT_EQ((*json)["a; int injected = 1; //"].as_string(), "x");
  EXPECT_EQ((*json)["class"].as_string(), "y");
}

TEST(GeneratedHeader, EmbedsBuiltInTypes) {
  depot::v1::Depot depot;
  depot.spec.template_.spec.node_name = "n1";
  depot.spec.root.shelves.push_back({.label = "top"});

  const auto copy = kube::decode_json<depot::v1::Depot>(kube::encode_json(depot));

  EXPECT_EQ(copy->spec.template_, depot.spec.template_);
  EXPECT_EQ(copy->spec.root, depot.spec.root);
}

}  // namespace
