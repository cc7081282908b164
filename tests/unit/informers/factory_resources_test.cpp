// SPDX-License-Identifier: Apache-2.0
// Dynamic and metadata factories: the same machinery (K-24) for resources known by name.
#include <kube/informers/resource_informer_factory.hpp>

#include "factory_support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using core::v1::ConfigMap;
using meta::v1::PartialObjectMetadata;
using testing_support::FactoryTest;
using testing_support::kPatience;

const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};
const GroupVersionResource kNodes{"", "v1", "nodes"};

template <typename T>
class ResourceInformerFactoryTest : public FactoryTest {};
using Representations = ::testing::Types<Value, PartialObjectMetadata>;
TYPED_TEST_SUITE(ResourceInformerFactoryTest, Representations);

// N-1, N-2, N-3, G-1
TYPED_TEST(ResourceInformerFactoryTest, HasOneInformerPerResource) {
  ResourceInformerFactory<TypeParam> factory{this->client()};
  const auto maps = factory.for_resource(kConfigMaps);
  EXPECT_EQ(maps.informer(), factory.for_resource(kConfigMaps).informer());
  EXPECT_NE(maps.informer(), factory.for_resource(kNodes).informer());
  EXPECT_EQ(maps.resource(), kConfigMaps);
  EXPECT_EQ(maps.informer().indexer().index_names(), std::vector<std::string>{"namespace"});
  factory.start();
  const CacheSync sync = factory.wait_for_cache_sync();
  ASSERT_EQ(sync.informers.size(), 2U);
  EXPECT_EQ(sync.informers[0].type, "/v1, Resource=configmaps");
  EXPECT_EQ(sync.informers[1].type, "/v1, Resource=nodes");
}

// N-1: a resource that the server does not have is detected by listing it, repeatedly
TYPED_TEST(ResourceInformerFactoryTest, AnyResourceYieldsAnInformerThatTriesUntilItExists) {
  ResourceInformerFactory<TypeParam> factory{this->client(), {.clock = &this->clock}};
  const std::string group = this->space + ".example.com";
  const auto unicorns = factory.for_resource({group, "v1", "unicorns"});
  unicorns.informer();
  factory.start();
  constexpr std::string_view kMissing = "nothing at this address";
  ASSERT_TRUE(this->server.wait_for(
      [&] { return unicorns.informer().last_error().find(kMissing) != std::string::npos; }));
  const CacheSync sync = factory.wait_for_cache_sync(std::stop_token{}, Clock::Duration{});
  EXPECT_FALSE(sync);
  EXPECT_NE(sync.informers[0].reason.find(kMissing), std::string::npos) << sync.informers[0].reason;

  this->server.load_yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unicorns.)" +
                         group + R"(}
spec:
  group: )" + group + R"(
  names: {kind: Unicorn, plural: unicorns, singular: unicorn, listKind: UnicornList}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)");
  ASSERT_TRUE(this->server.wait_for([&] {
    this->clock.advance(std::chrono::seconds{1});
    return unicorns.informer().has_synced();
  }));
}

// N-4, N-5, K-24: every option of the typed factory works here as well
TYPED_TEST(ResourceInformerFactoryTest, TakesTheOptionsOfAllFactories) {
  const std::string other = this->server.add_space();
  this->server.create(this->config_map(this->space, "one", {{"app", "web"}}));
  this->server.create(this->config_map(this->space, "two"));
  this->server.create(this->config_map(other, "three", {{"app", "web"}}));
  const auto metrics = std::make_shared<Metrics>();
  ResourceInformerFactory<TypeParam> factory{
      this->client(),
      {.namespace_ = this->space,
       .tweak_list_options = [](ListOptions& options) { options.label_selector = "app=web"; },
       .leave_out = {"metadata.managedFields"},
       .metrics = metrics,
       .name = "factory"},
      {.indexers = {{"all", [](const TypeParam&) { return std::vector<std::string>{"yes"}; }}}}};
  const auto maps = factory.for_resource(kConfigMaps);
  maps.informer();
  std::stop_source stop;
  factory.start(stop.get_token());
  ASSERT_TRUE(factory.wait_for_cache_sync());
  EXPECT_EQ(this->names(maps.lister().list()), "one");
  EXPECT_EQ(maps.informer().indexer().by_index("all", "yes").size(), 1U);
  EXPECT_NE(metrics->text().find("name=\"factory\""), std::string::npos);
  this->server.create(this->config_map(this->space, "four", {{"app", "web"}}));
  EXPECT_TRUE(this->server.wait_for([&] { return maps.lister().list().size() == 2; }));
  ASSERT_TRUE(factory.stop_informer(kConfigMaps).wait({}));
  factory.shutdown();
}

// N-6
TYPED_TEST(ResourceInformerFactoryTest, BeginsWithAStreamOfTheExistingObjects) {
  this->server.create(this->config_map(this->space, "one"));
  ResourceInformerFactory<TypeParam> factory{this->client(),
                                             {.namespace_ = this->space, .watch_list = true}};
  const auto maps = factory.for_resource(kConfigMaps);
  maps.informer();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync());
  EXPECT_EQ(this->names(maps.lister().list()), "one");
  EXPECT_EQ(this->trace.count("list", "configmaps"), 0U);
  EXPECT_EQ(this->trace.count("watch", "configmaps"), 1U);
}

// N-7
TYPED_TEST(ResourceInformerFactoryTest, ListersWorkByNamespaceAndNameThePluralInErrors) {
  const std::string a = this->space;
  const std::string b = this->server.add_space();
  this->server.create(this->config_map(a, "one", {{"app", "web"}, {"test", a}}));
  this->server.create(this->config_map(b, "two", {{"test", a}}));
  ResourceInformerFactory<TypeParam> factory{
      this->client(), {.tweak_list_options = [&](ListOptions& options) {
        options.label_selector = "test=" + a;  // in all namespaces
      }}};
  const auto lister = factory.for_resource(kConfigMaps).lister();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync());
  EXPECT_EQ(this->names(lister.list()), "one two");
  EXPECT_EQ(this->names(lister.list(labels::Selector::parse("app=web"))), "one");
  EXPECT_EQ(this->names(lister.in_namespace(b).list()), "two");
  EXPECT_NE(lister.in_namespace(b).find("two"), nullptr);
  EXPECT_EQ(lister.in_namespace(a).find("two"), nullptr);
  try {
    static_cast<void>(lister.in_namespace(a).get("two"));
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(std::string{error.what()}, "configmaps \"two\" not found");
  }
}

// N-2
TEST_F(FactoryTest, DynamicObjectsAreWholeAndMetadataObjectsAreNot) {
  ConfigMap map = config_map(space, "one", {{"app", "web"}});
  map.data["text"] = "large";
  server.create(map);
  DynamicInformerFactory dynamic{client(), {.namespace_ = space}};
  MetadataInformerFactory metadata{client(), {.namespace_ = space}};
  const auto values = dynamic.for_resource(kConfigMaps).lister();
  const auto partial = metadata.for_resource(kConfigMaps).lister();
  dynamic.start();
  metadata.start();
  ASSERT_TRUE(dynamic.wait_for_cache_sync());
  ASSERT_TRUE(metadata.wait_for_cache_sync());
  EXPECT_EQ((*values.get(space + "/one"))["data"]["text"], "large");
  EXPECT_EQ((*values.get(space + "/one"))["kind"], "ConfigMap");
  EXPECT_EQ(*partial.get(space + "/one")->metadata.labels.find("app"), "web");
}

// RT-2: informers and handlers use only the threads of their client.
TEST_F(FactoryTest, AddsNoThreadPerInformer) {
  constexpr std::size_t kMostWorkers = 4;
  server.create(config_map(space, "one"));
  const std::size_t before = testing_support::thread_count();
  std::atomic<int> added = 0;
  std::vector<std::unique_ptr<DynamicInformerFactory>> factories;
  for (int i = 0; i < 40; ++i) {
    auto factory =
        std::make_unique<DynamicInformerFactory>(client(), FactoryOptions{.namespace_ = space});
    factory->for_resource(kConfigMaps).informer().add_event_handler({.on_add = [&](const Value&) {
      ++added;
    }});
    factory->start();
    factories.push_back(std::move(factory));
  }
  for (const auto& factory : factories) ASSERT_TRUE(factory->wait_for_cache_sync({}, kPatience));
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (added < 40 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(added, 40);
  EXPECT_LE(testing_support::thread_count(), before + 1 + kMostWorkers);
}

// G-7: one resource may differ
TEST_F(FactoryTest, OneResourceOfADynamicFactoryMayDiffer) {
  const std::string other = server.add_space();
  server.create(config_map(space, "one"));
  server.create(config_map(other, "two"));
  DynamicInformerFactory factory{client(), {.namespace_ = space}};
  factory.configure(kConfigMaps, {.namespace_ = other});
  const auto lister = factory.for_resource(kConfigMaps).lister();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync());
  EXPECT_EQ(names(lister.list()), "two");
  EXPECT_THROW(factory.configure(kConfigMaps, {}), std::logic_error);
}

}  // namespace
}  // namespace kube
