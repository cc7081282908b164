// SPDX-License-Identifier: Apache-2.0
// Factories against the testkit's API server: one informer per type, start, sync, stop.
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/registry.hpp>
#include <kube/cache/resource_list_watch.hpp>
#include <kube/informers/shared_informer_factory.hpp>
#include <kube/object/slim.hpp>
#include <kube/transport/transport.hpp>

#include "factory_support.hpp"
#include "support/failing_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kube {
namespace {

using apps::v1::Deployment;
using core::v1::ConfigMap;
using core::v1::Namespace;
using core::v1::Node;
using core::v1::Pod;
using testing_support::FactoryTest;
using testing_support::kPatience;
using testing_support::LabelList;

class SharedInformerFactoryTest : public FactoryTest {
 protected:
  SharedInformerFactory factory{client(), {.namespace_ = space}};
};

class FactoryInTrouble : public SharedInformerFactoryTest {
 protected:
  void SetUp() override {
    if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  }
};

// G-1, G-2
TEST_F(SharedInformerFactoryTest, HasOneSharedInformerPerType) {
  const auto pods = factory.core().v1().pods();
  EXPECT_EQ(pods.informer(), factory.informer<Pod>());
  EXPECT_EQ(pods.informer(), factory.core().v1().pods().informer());
}

// G-2
TEST_F(SharedInformerFactoryTest, StartsOnlyRequestedInformers) {
  const auto pods = factory.core().v1().pods();
  const auto nodes = factory.core().v1().nodes();
  static_cast<void>(nodes.lister());  // requests the informer; naming the resource does not
  factory.start();
  const CacheSync sync = factory.wait_for_cache_sync();
  ASSERT_EQ(sync.informers.size(), 1U);
  EXPECT_NE(sync.informers[0].type.find("Node"), std::string::npos);
  EXPECT_EQ(trace.count("", "pods"), 0U);
  static_cast<void>(pods);
}

// G-2, G-3
TEST_F(SharedInformerFactoryTest, StartsLaterOnesWithAnotherStart) {
  factory.core().v1().nodes().informer();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  factory.core().v1().configmaps().informer();
  EXPECT_EQ(factory.wait_for_cache_sync().cause, "not started");
  factory.start();
  factory.start();  // more calls do no harm
  const CacheSync sync = factory.wait_for_cache_sync();
  EXPECT_TRUE(sync);
  EXPECT_EQ(sync.informers.size(), 2U);
  EXPECT_EQ(trace.count("watch", "nodes"), 1U);
}

// RT-5: without a worker, the loop's thread runs informers.
TEST_F(SharedInformerFactoryTest, FillsItsCachesWithoutAWorker) {
  const auto nodes = factory.core().v1().nodes().informer();
  const auto maps = factory.core().v1().configmaps().informer();
  const testing_support::ThreadFault fault{1'000'000};
  factory.start();
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (!(nodes.has_synced() && maps.has_synced()) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(nodes.has_synced());
  EXPECT_TRUE(maps.has_synced());
}

// G-14: a thread that cannot be created is an error, and another start tries again.
TEST(InformerFactory, StartsAgainAfterAThreadCouldNotBeCreated) {
  struct Unreachable final : Transport {
    std::unique_ptr<ResponseStream> open(HttpRequest, std::stop_token) override {
      throw TransportError(TransportError::Kind::kConnect, "nobody listens");
    }
  };
  const Client client{{.host = "http://localhost"},
                      {.log = Logger{}, .transport = std::make_shared<Unreachable>()}};
  SharedInformerFactory factory{client};
  factory.core().v1().nodes().informer();
  {
    const testing_support::ThreadFault fault{1};
    try {
      factory.start();
      ADD_FAILURE() << "it started";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "informer of v1 Node could not begin: the thread of the event loop could not be "
                   "created: Resource temporarily unavailable; start again to try again");
    }
  }
  EXPECT_EQ(factory.wait_for_cache_sync({}, std::chrono::milliseconds{10}).cause, "not started");
  factory.start();
  EXPECT_EQ(factory.wait_for_cache_sync({}, std::chrono::milliseconds{10}).cause, "timed out");
}

// G-3
TEST_F(SharedInformerFactoryTest, TokenStopsOnlyInformersOfThatStart) {
  const auto first = factory.informer<Node>();
  std::stop_source stop_first;
  factory.start(stop_first.get_token());
  const auto second = factory.informer<ConfigMap>();
  std::stop_source stop_second;
  factory.start(stop_second.get_token());
  ASSERT_TRUE(factory.wait_for_cache_sync());
  stop_first.request_stop();
  EXPECT_TRUE(server.wait_for([&] { return first.is_stopped(); }));
  EXPECT_FALSE(second.is_stopped());
  server.create(config_map(space, "late"));
  EXPECT_TRUE(server.wait_for(
      [&] { return factory.lister<ConfigMap>().find(space + "/late") != nullptr; }));
}

// G-4, G-5, K-36
TEST_F(SharedInformerFactoryTest, ShutdownStopsEverythingAndNothingStartsAfterwards) {
  const auto nodes = factory.informer<Node>();
  server.create(node());
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  const std::jthread also{[&] { factory.shutdown(); }};  // repeatedly and from any thread
  factory.shutdown();
  EXPECT_TRUE(nodes.is_stopped());
  EXPECT_NE(factory.lister<Node>().find(node_name), nullptr);  // caches remain readable
  const auto maps = factory.informer<ConfigMap>();
  factory.start();
  EXPECT_EQ(trace.count("", "configmaps"), 0U);
  EXPECT_FALSE(maps.has_synced());
}

// G-5
TEST_F(SharedInformerFactoryTest, ShutdownBeforeStartReturnsAtOnce) {
  factory.core().v1().pods().informer();
  factory.shutdown();
  factory.shutdown();
}

// G-6
TEST_F(FactoryInTrouble, ReportsWhichCachesHaveNotSyncedAndWhy) {
  server->faults().always().matching({.resource = "pods"}).respond(403);
  factory.core().v1().nodes().informer();
  factory.core().v1().pods().informer();
  std::stop_source stop;
  factory.start(stop.get_token());
  ASSERT_TRUE(server.wait_for([&] {
    return factory.informer<Node>().has_synced() && !factory.informer<Pod>().last_error().empty();
  }));
  const CacheSync sync = factory.wait_for_cache_sync({}, std::chrono::milliseconds{1});
  EXPECT_FALSE(sync);
  ASSERT_EQ(sync.informers.size(), 2U);
  EXPECT_TRUE(sync.informers[0].synced);
  EXPECT_FALSE(sync.informers[1].synced);
  EXPECT_NE(sync.informers[1].reason.find("injected by a test"), std::string::npos)
      << sync.informers[1].reason;
  EXPECT_EQ(sync.message().rfind("failed to sync all caches: ", 0), 0U) << sync.message();
  EXPECT_NE(sync.message().find("): timed out"), std::string::npos) << sync.message();
  EXPECT_THROW(sync.or_throw(), CacheSyncError);
}

// G-6, K-34
TEST_F(FactoryInTrouble, WaitsUntilAStopAndReportsIt) {
  server->faults().always().matching({.resource = "pods"}).respond(500);
  factory.core().v1().pods().informer();
  factory.start();
  std::stop_source stop;
  std::jthread later{[&] {
    server.wait_for([&] { return trace.count("", "pods") > 0; });
    stop.request_stop();
  }};
  EXPECT_EQ(factory.wait_for_cache_sync(stop.get_token()).cause, "stopped");
}

// G-6
TEST_F(FactoryInTrouble, DoesNotWaitForAnInformerThatHasEnded) {
  server->faults().always().matching({.resource = "pods"}).respond(500);
  factory.core().v1().pods().informer();
  std::stop_source stop;
  factory.start(stop.get_token());
  stop.request_stop();
  const CacheSync sync = factory.wait_for_cache_sync();
  EXPECT_FALSE(sync);
  EXPECT_FALSE(sync.informers.front().reason.empty());
}

// G-6
TEST_F(SharedInformerFactoryTest, ReportsAtOnceThatAnInformerWasNotStarted) {
  constexpr auto kNotStarted = "not started: call start() after asking for it";
  factory.core().v1().pods().informer();
  const CacheSync forgotten = factory.wait_for_cache_sync();  // would wait for ever
  EXPECT_FALSE(forgotten);
  ASSERT_EQ(forgotten.informers.size(), 1U);
  EXPECT_EQ(forgotten.informers[0].reason, kNotStarted);
  EXPECT_EQ(forgotten.message(),
            std::string{"failed to sync all caches: v1 Pod ("} + kNotStarted + "): not started");

  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  factory.core().v1().nodes().informer();
  const CacheSync later = factory.wait_for_cache_sync();
  ASSERT_EQ(later.informers.size(), 2U);
  EXPECT_FALSE(later.informers[0].synced);
  EXPECT_EQ(later.informers[0].reason, kNotStarted);
  EXPECT_TRUE(later.informers[1].synced);

  factory.shutdown();
  factory.start();
  EXPECT_EQ(factory.wait_for_cache_sync().informers[0].reason,
            "not started: the factory has been shut down");
}

// G-5
TEST_F(SharedInformerFactoryTest, ShutdownInAHandlerIsAnError) {
  server.create(config_map(space, "one"));
  std::mutex mutex;
  std::string thrown;
  factory.informer<ConfigMap>().add_event_handler({.on_add = [&](const ConfigMap&) {
    const std::lock_guard guard{mutex};
    try {
      factory.shutdown();
    } catch (const std::logic_error& error) {
      thrown = error.what();
    }
  }});
  factory.start();
  ASSERT_TRUE(server.wait_for([&] {
    const std::lock_guard guard{mutex};
    return !thrown.empty();
  }));
  EXPECT_NE(thrown.find("call stop_informer()"), std::string::npos) << thrown;
  factory.shutdown();
}

// G-5
TEST_F(FactoryTest, EndsOnItsOwnIfAHandlerDestroysIt) {
  server.create(config_map(space, "one"));
  std::mutex mutex;
  std::string logged;
  auto factory = std::make_unique<SharedInformerFactory>(
      client(),
      FactoryOptions{.namespace_ = space,
                     .log = Logger{[&](LogLevel, std::string_view, std::string_view text) {
                                     const std::lock_guard guard{mutex};
                                     logged += text;
                                   },
                                   LogLevel::kError}});
  auto maps = factory->informer<ConfigMap>();
  const DoneSignal destroyed;
  maps.add_event_handler({.on_add = [&](const ConfigMap&) {
    factory.reset();
    destroyed.fire();
  }});
  SharedInformerFactory* const running = factory.get();
  running->start();
  ASSERT_TRUE(destroyed.wait({}));
  EXPECT_TRUE(server.wait_for([&] { return maps.is_stopped(); }));
  const std::lock_guard guard{mutex};
  EXPECT_NE(logged.find("destroyed by a handler of its own"), std::string::npos) << logged;
}

// G-15
TEST_F(FactoryTest, RefusesAMalformedSelectorWhenAskedForTheInformer) {
  SharedInformerFactory factory{client(), {.namespace_ = space}};
  factory.configure<ConfigMap>(
      {.tweak_list_options = [](ListOptions& options) { options.label_selector = "app in (web"; }});
  factory.configure<Pod>({.tweak_list_options = [](ListOptions& options) {
    options.field_selector = "spec.nodeName";
  }});
  const auto message = [](const auto& ask) -> std::string {
    try {
      ask();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const std::string labels = message([&] { factory.informer<ConfigMap>(); });
  EXPECT_NE(labels.find("informer of v1 ConfigMap: label selector"), std::string::npos) << labels;
  EXPECT_NE(labels.find("at offset 11"), std::string::npos) << labels;
  const std::string fields = message([&] { factory.informer<Pod>(); });
  EXPECT_NE(fields.find("informer of v1 Pod: field selector"), std::string::npos) << fields;
  EXPECT_NE(fields.find("at offset 0"), std::string::npos) << fields;
  const std::string listed = message(
      [&] { static_cast<void>(client().resource<Pod>(space).list({.label_selector = "a b"})); });
  EXPECT_NE(listed.find("at offset 2"), std::string::npos) << listed;
  EXPECT_EQ(trace.count("", "pods"), 0U);
}

// M-10
TEST_F(FactoryInTrouble, LogsWhereItsClientDoes) {
  server->faults().always().matching({.resource = "pods"}).respond(403);
  std::mutex mutex;
  std::string logged;
  const Client own{server.config(),
                   {.log = Logger{[&](LogLevel, std::string_view component, std::string_view text) {
                                    const std::lock_guard guard{mutex};
                                    logged += std::string{component} + ": " + std::string{text};
                                  },
                                  LogLevel::kWarning}}};
  SharedInformerFactory quiet{own, {.log = Logger{}}};
  quiet.informer<Pod>();
  quiet.start();
  ASSERT_TRUE(server.wait_for([&] { return !quiet.informer<Pod>().last_error().empty(); }));
  quiet.shutdown();
  EXPECT_EQ(logged, "");

  SharedInformerFactory loud{own};
  loud.informer<Pod>();
  loud.start();
  EXPECT_TRUE(server.wait_for([&] {
    const std::lock_guard guard{mutex};
    return logged.find("reflector: v1 Pod: Failed to watch v1 Pod, retrying") != std::string::npos;
  })) << logged;
  loud.shutdown();
}

// G-6
TEST_F(SharedInformerFactoryTest, SyncsAtOnceWithoutInformers) {
  const CacheSync sync = factory.wait_for_cache_sync();
  EXPECT_TRUE(sync);
  EXPECT_TRUE(sync.informers.empty());
  EXPECT_EQ(sync.message(), "");
  EXPECT_NO_THROW(sync.or_throw());
}

// G-7, G-8
TEST_F(FactoryTest, NamespaceAndTweakApplyToEveryInformer) {
  const std::string other = server.add_space();
  const LabelList chosen{{"app", space}};
  server.create(config_map(space, "one", chosen));
  server.create(config_map(space, "two"));
  server.create(config_map(other, "three", chosen));
  server.create(node(chosen));
  SharedInformerFactory factory{
      client(), {.namespace_ = space, .tweak_list_options = [&](ListOptions& options) {
                   options.label_selector = "app=" + space;
                 }}};
  const auto maps = factory.core().v1().configmaps().lister();
  const auto nodes = factory.core().v1().nodes().lister();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  EXPECT_EQ(names(maps.list()), "one");
  EXPECT_EQ(names(nodes.list()),
            node_name);  // is cluster-scoped, so the namespace does not apply
  server.create(config_map(space, "four", chosen));
  server.create(config_map(space, "five"));
  server.create(config_map(other, "six", chosen));
  ASSERT_TRUE(server.wait_for([&] { return maps.list().size() == 2; }));
  EXPECT_EQ(names(maps.list()), "four one");
  ASSERT_EQ(trace.count("watch", "configmaps"), 1U);
  EXPECT_EQ(trace.all("watch", "configmaps")[0].path,
            "/api/v1/namespaces/" + space + "/configmaps");
}

// G-7: one type may differ in all options
TEST_F(FactoryTest, OptionsOfATypeTakePrecedence) {
  const std::string other = server.add_space();
  server.create(config_map(space, "one"));
  server.create(config_map(other, "two"));
  server.create(config_map(other, "three", {{"app", "web"}}));
  SharedInformerFactory factory{client(), {.namespace_ = space}};
  factory.configure<ConfigMap>({
      .namespace_ = other,
      .tweak_list_options = [](ListOptions& options) { options.label_selector = "!app"; },
      .transform = [](ConfigMap& map) { map.metadata.annotations["seen"] = "yes"; },
      .indexers = {{"letter",
                    [](const ConfigMap& map) {
                      return std::vector<std::string>{
                          std::string{map.metadata.name.view().substr(0, 1)}};
                    }}},
      .queue_kind = QueueKind::kDeltaFifo,
  });
  const auto informer = factory.informer<ConfigMap>();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  ASSERT_EQ(names(informer.indexer().list()), "two");
  EXPECT_EQ(informer.indexer().by_index("letter", "t").size(), 1U);
  EXPECT_EQ(*informer.indexer().find(other + "/two")->metadata.annotations.find("seen"), "yes");
  EXPECT_THROW(factory.configure<ConfigMap>({}), std::logic_error);
}

// G-7: the resync of a type takes precedence over that of the factory
TEST_F(FactoryTest, ResyncsEachTypeAtItsOwnPace) {
  server.create(config_map(space, "one"));
  server.create(node());
  SharedInformerFactory factory{
      client(), {.resync = std::chrono::hours{100}, .namespace_ = space, .clock = &clock}};
  factory.configure<Node>({.resync = std::chrono::minutes{1}});
  std::atomic<int> nodes_again = 0;
  std::atomic<int> maps_again = 0;
  factory.informer<Node>().add_event_handler(
      {.on_update = [&](const Node&, const Node&) { ++nodes_again; }});
  factory.informer<ConfigMap>().add_event_handler(
      {.on_update = [&](const ConfigMap&, const ConfigMap&) { ++maps_again; }});
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  ASSERT_TRUE(server.wait_for([&] {
    clock.advance(std::chrono::seconds{1});
    return nodes_again >= 2;
  }));
  EXPECT_EQ(maps_again, 0);
}

// G-7, G-13: fields are dropped from all objects, before anything starts
TEST_F(FactoryTest, LeavesOutFieldsOfAllTypes) {
  ConfigMap managed = config_map(space, "one");
  managed.data["text"] = "some";
  client().apply(managed, {.field_manager = "test"});
  SharedInformerFactory factory{client(),
                                {.namespace_ = space, .leave_out = {"metadata.managedFields"}}};
  const auto maps = factory.core().v1().configmaps().lister();
  const auto spaces = factory.core().v1().namespaces().lister();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  EXPECT_TRUE(maps.get(space + "/one")->metadata.managed_fields.empty());
  EXPECT_FALSE(client().resource<ConfigMap>(space).get("one")->metadata.managed_fields.empty());
  EXPECT_NE(spaces.find("default"), nullptr);
}

TEST_F(FactoryTest, UnknownFieldToLeaveOutIsAnError) {
  SharedInformerFactory factory{client(), {.leave_out = {"metadata.nonsense"}}};
  EXPECT_THROW(factory.core().v1().pods().informer(), std::invalid_argument);
}

// G-7: a projection keeps only the named fields
TEST_F(FactoryTest, KeepsOnlyTheFieldsOfAProjection) {
  ConfigMap map = config_map(space, "one", {{"app", "web"}});
  map.data["large"] = std::string(10'000, 'x');
  server.create(map);
  SharedInformerFactory factory{client(), {.namespace_ = space}};
  factory.configure<ConfigMap>({.projection = fields<ConfigMap>("metadata")});
  const auto maps = factory.core().v1().configmaps().lister();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  EXPECT_TRUE(maps.get(space + "/one")->data.empty());
  EXPECT_EQ(maps.list(labels::Selector::parse("app=web")).size(), 1U);
}

TEST_F(FactoryTest, ProjectionMustKeepFieldsThatACacheNeeds) {
  SharedInformerFactory factory{client()};
  factory.configure<ConfigMap>({.projection = fields<ConfigMap>("metadata.name", "data")});
  try {
    factory.informer<ConfigMap>();
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string_view{error.what()}.find("metadata.namespace must be kept"),
              std::string_view::npos)
        << error.what();
  }
}

// The end of the initial events is marked by an annotation, which the projection drops
TEST_F(FactoryTest, AProjectionMayLeaveOutAnnotations) {
  server.create(config_map(space, "one"));
  SharedInformerFactory factory{client(), {.namespace_ = space, .watch_list = true}};
  factory.configure<ConfigMap>(
      {.projection =
           fields<ConfigMap>("metadata.name", "metadata.namespace", "metadata.resourceVersion")});
  const auto maps = factory.lister<ConfigMap>();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, std::chrono::seconds{10}));
  EXPECT_EQ(names(maps.list()), "one");
}

// G-8, K-33
TEST_F(SharedInformerFactoryTest, AllInformersHaveTheNamespaceIndex) {
  EXPECT_EQ(factory.informer<Pod>().indexer().index_names(), std::vector<std::string>{"namespace"});
  EXPECT_EQ(factory.informer<Node>().indexer().index_names(),
            std::vector<std::string>{"namespace"});
}

// G-1, G-9, G-12
TEST_F(SharedInformerFactoryTest, AcceptsAnInformerMadeByACallback) {
  int calls = 0;
  const auto make = [&](const Client& client, Clock::Duration) {
    ++calls;
    factory.core().v1().nodes().informer();  // may request others
    return SharedIndexInformer<Pod>{
        std::make_shared<ResourceListWatch<Pod>>(client.resource<Pod>("kube-system"))};
  };
  const auto mine = factory.informer_for<Pod>(make);
  EXPECT_EQ(mine, factory.informer_for<Pod>(make));
  EXPECT_EQ(mine, factory.core().v1().pods().informer());
  EXPECT_EQ(calls, 1);
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  ASSERT_EQ(trace.count("watch", "pods"), 1U);
  EXPECT_EQ(trace.all("watch", "pods")[0].path, "/api/v1/namespaces/kube-system/pods");
}

// G-10
TEST_F(SharedInformerFactoryTest, FindsTheSameInformerByTheNamesOfItsResource) {
  server.create(config_map(space, "one", {{"app", "web"}}));
  server.create(config_map(space, "two"));
  GenericInformer generic = factory.for_resource({"", "v1", "configmaps"});
  EXPECT_EQ(generic.as<ConfigMap>(), factory.informer<ConfigMap>());
  EXPECT_THROW(static_cast<void>(generic.as<Pod>()), std::bad_cast);
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  const GenericLister lister = generic.lister();
  EXPECT_EQ(lister.list().size(), 2U);
  EXPECT_EQ(lister.list(labels::Selector::parse("app=web")).size(), 1U);
  const AnyObject found = lister.in_namespace(space).get("one");
  EXPECT_EQ(found.name(), "one");
  EXPECT_EQ(found.namespace_(), space);
  EXPECT_EQ(found.label("app"), "web");
  EXPECT_EQ(found.as<ConfigMap>(), factory.lister<ConfigMap>().get(space + "/one"));
  EXPECT_EQ(found.as<Pod>(), nullptr);
  EXPECT_NE(found.json().find("\"kind\":\"ConfigMap\""), std::string::npos) << found.json();
  EXPECT_FALSE(lister.find(space + "/none"));
  EXPECT_EQ(lister.get({space, "one"}).name(), "one");
  EXPECT_FALSE(lister.in_namespace("other").find({space, "one"}));
  try {
    static_cast<void>(lister.get(space + "/none"));
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(std::string{error.what()}, "configmaps \"" + space + "/none\" not found");
  }
}

// G-10
TEST_F(SharedInformerFactoryTest, NotifiesGenericHandlersOfAllChanges) {
  server.create(config_map(space, "one"));
  GenericInformer generic = factory.for_resource({"", "v1", "configmaps"});
  std::mutex mutex;
  std::vector<std::string> told;
  const auto note = [&](std::string text) {
    const std::lock_guard guard{mutex};
    told.push_back(std::move(text));
  };
  generic.add_event_handler({
      .on_add = [&](const AnyObject& now,
                    bool initial) { note(now.key().str() + (initial ? " there" : " new")); },
      .on_update = [&](const AnyObject&, const AnyObject& now) { note(now.key().str() + " now"); },
      .on_delete = [&](const AnyObject& last, const ObjectKey& key,
                       bool known) { note(key.str() + (last && known ? " gone" : " lost")); },
  });
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  server.create(config_map(space, "one", {{"app", "web"}}));
  server.remove<ConfigMap>(space, "one");
  const auto all = [&] {
    const std::lock_guard guard{mutex};
    return told;
  };
  ASSERT_TRUE(server.wait_for([&] { return all().size() == 3; }));
  EXPECT_EQ(all(), (std::vector<std::string>{space + "/one there", space + "/one now",
                                             space + "/one gone"}));
}

// G-10
TEST_F(SharedInformerFactoryTest, KnowsEveryResourceOfTheApiThatCanBeWatched) {
  std::size_t count = 0;
  for (const ApiKind& kind : api_kinds()) {
    const ResourceInfo* info = kind.resource;
    if (info == nullptr || !info->has_verb("list") || !info->has_verb("watch")) continue;
    EXPECT_NO_THROW(static_cast<void>(factory.for_resource(
        {std::string{info->group}, std::string{info->version}, std::string{info->plural}})))
        << info->api_version() << ' ' << info->plural;
    ++count;
  }
  EXPECT_GE(count, 138U);
  try {
    static_cast<void>(factory.for_resource({"", "v1", "unicorns"}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string{error.what()}, "no informer found for /v1, Resource=unicorns");
  }
  EXPECT_THROW(static_cast<void>(factory.for_resource({"", "v1", "Pods"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(factory.for_resource({"", "v1", "pod"})), std::invalid_argument);
}

// G-11
TEST_F(SharedInformerFactoryTest, LeadsToAllGroups) {
  static_cast<void>(factory.admissionregistration().v1());
  static_cast<void>(factory.apiserverinternal().v1alpha1());
  static_cast<void>(factory.apps().v1());
  static_cast<void>(factory.autoscaling().v2());
  static_cast<void>(factory.batch().v1());
  static_cast<void>(factory.certificates().v1());
  static_cast<void>(factory.coordination().v1());
  static_cast<void>(factory.core().v1());
  static_cast<void>(factory.discovery().v1());
  static_cast<void>(factory.events().v1());
  static_cast<void>(factory.extensions().v1beta1());
  static_cast<void>(factory.flowcontrol().v1());
  static_cast<void>(factory.networking().v1());
  static_cast<void>(factory.node().v1());
  static_cast<void>(factory.policy().v1());
  static_cast<void>(factory.rbac().v1());
  static_cast<void>(factory.resource().v1());
  static_cast<void>(factory.scheduling().v1());
  static_cast<void>(factory.storage().v1());
  static_cast<void>(factory.storagemigration());
}

// Y-5: errors of listers name the resource as client-go's do
TEST_F(SharedInformerFactoryTest, ListersNameTheMissingObject) {
  const auto deployments = factory.apps().v1().deployments().lister();
  try {
    static_cast<void>(deployments.in_namespace("shop").get("web"));
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
    EXPECT_EQ(std::string{error.what()}, "deployment.apps \"web\" not found");
  }
}

TEST_F(SharedInformerFactoryTest, StopsOneInformerAndMakesANewOneOnRequest) {
  server.create(config_map(space, "one"));
  const auto maps = factory.informer<ConfigMap>();
  const auto nodes = factory.informer<Node>();
  factory.start();
  ASSERT_TRUE(factory.wait_for_cache_sync({}, kPatience));
  ASSERT_TRUE(factory.stop_informer<ConfigMap>().wait({}));
  EXPECT_TRUE(maps.is_stopped());
  EXPECT_FALSE(nodes.is_stopped());
  EXPECT_NE(maps.indexer().find(space + "/one"), nullptr);
  EXPECT_TRUE(factory.stop_informer<ConfigMap>().done());  // it has been removed

  const auto anew = factory.informer<ConfigMap>();
  EXPECT_NE(anew, maps);
  factory.start();
  EXPECT_TRUE(factory.wait_for_cache_sync());
  EXPECT_TRUE(anew.has_synced());
}

TEST_F(SharedInformerFactoryTest, AHandlerMayStopItsOwnInformer) {
  server.create(config_map(space, "one"));
  auto maps = factory.informer<ConfigMap>();
  maps.add_event_handler(
      {.on_add = [&](const ConfigMap&) { static_cast<void>(factory.stop_informer<ConfigMap>()); }});
  factory.start();
  EXPECT_TRUE(server.wait_for([&] { return maps.is_stopped(); }));
}

TEST_F(FactoryTest, ReportsStatesWithTheNameOfTheInformer) {
  std::mutex mutex;
  std::vector<std::string> told;
  SharedInformerFactory factory{
      client(), {.on_state = [&](std::string_view informer, const ReflectorEvent& event) {
        const std::lock_guard guard{mutex};
        if (event.kind == ReflectorEvent::Kind::kStateStreamed) told.emplace_back(informer);
      }}};
  factory.core().v1().nodes().informer();
  factory.start();
  EXPECT_TRUE(server.wait_for([&] {
    const std::lock_guard guard{mutex};
    return told == std::vector<std::string>{"v1 Node"};
  }));
}

// M-1, M-2, M-5, M-6
TEST_F(FactoryTest, CountsUnderItsNameUntilItIsShutDown) {
  const auto metrics = std::make_shared<Metrics>();
  {
    SharedInformerFactory factory{client(), {.metrics = metrics, .name = "first"}};
    EXPECT_THROW((SharedInformerFactory{client(), {.metrics = metrics, .name = "first"}}),
                 std::invalid_argument);
    EXPECT_THROW((SharedInformerFactory{client(), {.metrics = metrics}}), std::invalid_argument);
    factory.core().v1().nodes().informer();
    factory.start();
    ASSERT_TRUE(factory.wait_for_cache_sync());
    const std::string text = metrics->text();
    EXPECT_NE(text.find("informer_queued_items{group=\"\",name=\"first\",resource=\"nodes\","
                        "version=\"v1\"}"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(metrics->text().find("first"), std::string::npos);
  EXPECT_NO_THROW((SharedInformerFactory{client(), {.metrics = metrics, .name = "first"}}));
}

/// The resource Node with fewer fields.
struct SmallNode {
  struct Metadata {
    String name;
    String resource_version;
    static const Type kube_type;
  };
  Metadata metadata;
  static const Type kube_type;
  static constexpr const ResourceInfo& kube_resource = Node::kube_resource;
};
const Type SmallNode::Metadata::kube_type =
    slim(keep(&SmallNode::Metadata::name, &meta::v1::ObjectMeta::name),
         keep(&SmallNode::Metadata::resource_version, &meta::v1::ObjectMeta::resource_version));
const Type SmallNode::kube_type = slim(keep(&SmallNode::metadata, &Node::metadata));

// M-5: there may be two informers of one resource, but only one is counted
TEST_F(FactoryTest, ShowsOneResourceAsTwoTypesAndCountsItOnce) {
  server.create(node());
  const auto metrics = std::make_shared<Metrics>();
  std::mutex mutex;
  std::string logged;
  SharedInformerFactory factory{
      client(),
      {.metrics = metrics,
       .name = "first",
       .log = Logger{[&](LogLevel, std::string_view, std::string_view message) {
                       const std::lock_guard guard{mutex};
                       logged += message;
                     },
                     LogLevel::kError}}};
  const auto nodes = factory.lister<Node>();
  const auto small = factory.informer<SmallNode>();
  factory.start();
  const CacheSync sync = factory.wait_for_cache_sync({}, kPatience);
  ASSERT_TRUE(sync) << sync.message();
  EXPECT_EQ(nodes.get(node_name)->metadata.name, node_name);
  EXPECT_EQ(small.indexer().find(node_name)->metadata.name, node_name);
  const std::lock_guard guard{mutex};
  EXPECT_NE(logged.find("two informers of /v1, Resource=nodes"), std::string::npos) << logged;
}

}  // namespace
}  // namespace kube
