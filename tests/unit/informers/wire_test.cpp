// SPDX-License-Identifier: Apache-2.0
// An informer over sockets, without faults.
#include "wire_setup.hpp"

#include <kube/base/metrics.hpp>
#include <kube/cache/lister.hpp>
#include <kube/client/rate_limiter.hpp>

#include <atomic>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using Metadata = meta::v1::PartialObjectMetadata;

class InformerOverSockets : public WireTest, public ::testing::WithParamInterface<WireSetup> {
 protected:
  InformerOverSockets() : WireTest(GetParam()) {}

  template <typename T>
  std::unique_ptr<Running<T>> run(Resource<T> resource,
                                  std::function<void(ListOptions&)> tweak = nullptr) {
    return std::make_unique<Running<T>>(
        std::make_shared<ResourceListWatch<T>>(std::move(resource), std::move(tweak)),
        informer_options<T>());
  }
  /// Waits until cache and handler have exactly the matching objects of the server.
  template <typename T>
  bool knows(Running<T>& informer, const std::vector<std::string>& spaces,
             const Where& where = nullptr) {
    const std::string truth = shown(server, spaces, where);
    return eventually([&] {
             return informer.informer.has_synced() && shown(informer.informer.indexer()) == truth &&
                    informer.recorder.believes() == truth;
           }) &&
           informer.recorder.contradiction().empty();
  }
};

class InformerOverFaultySockets : public InformerOverSockets {
 protected:
  void SetUp() override {
    if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  }
};

// Consistency promise, C-7, R-32, W-2, W-7: one request or two yield the state and all later
// changes.
TEST_P(InformerOverSockets, FollowsTheServer) {
  const std::string first_a = put("a", "1");
  put("b", "1");
  start_and_sync();
  put("c", "1");
  const std::string second_a = put("a", "2");
  remove("b");
  ASSERT_TRUE(in_step());

  EXPECT_TRUE(running->registration.has_synced());
  EXPECT_TRUE(running->recorder.wait_for("update " + space + "/a@" + first_a + '>' + second_a));
  // A deletion has a resource version of its own.
  const std::string last = running->recorder.events().back();
  EXPECT_TRUE(last.starts_with("delete " + space + "/b@")) << last;
  EXPECT_GT(std::stoull(last.substr(last.find('@') + 1)), std::stoull(second_a));
  EXPECT_EQ(running->recorder.events().size(), 5U);
  EXPECT_EQ(requests("list"), setup.watch_list ? 0U : 1U);
  EXPECT_EQ(requests("watch"), 1U);
  EXPECT_EQ(running->informer.last_error(), "");
}

// N-2, N-6: untyped objects, and metadata only, work in the same way.
TEST_P(InformerOverSockets, BringsObjectsInEveryForm) {
  put("a", "1", {{"color", "red"}});
  client.emplace(make_client(config()));
  const auto typed = run(client->resource<ConfigMap>(space));
  const auto untyped = run(client->dynamic(kConfigMaps, space));
  const auto metadata = run(client->metadata(kConfigMaps, space));
  ASSERT_TRUE(knows(*typed, {space}));
  ASSERT_TRUE(knows(*untyped, {space}));
  ASSERT_TRUE(knows(*metadata, {space}));
  put("a", "2", {{"color", "blue"}});
  put("b", "1");
  ASSERT_TRUE(knows(*typed, {space}));
  ASSERT_TRUE(knows(*untyped, {space}));
  ASSERT_TRUE(knows(*metadata, {space}));

  const Ref<Value> truth = server.find(kConfigMaps, space, "a");
  EXPECT_EQ(*typed->informer.indexer().find(space, "a"), *server.find<ConfigMap>(space, "a"));
  EXPECT_EQ(*untyped->informer.indexer().find(space, "a"), *truth);
  const Ref<Metadata> seen = metadata->informer.indexer().find(space, "a");
  EXPECT_EQ(*seen->metadata.labels.find("color"), "blue");
  EXPECT_EQ(seen->metadata.uid.view(), truth->get_string("metadata.uid"));
  EXPECT_EQ(metadata->informer.indexer().list("", labels::Selector::parse("color=blue")).size(),
            1U);
}

// L-4, N-5: requests carry the namespace and the selectors, so the server sends nothing else.
TEST_P(InformerOverSockets, SeesOnlyItsNamespaceAndItsSelection) {
  const std::string other = server.add_space();
  const std::string red = "red-" + space;  // unique to this test
  const auto make = [&](const std::string& where, const std::string& name,
                        const std::string& color) {
    server.create(config_map(where, name, "1", {{"color", color}}));
  };
  const auto is_red = [&](const Value& map) {
    return map.get_string("metadata.labels.color") == red;
  };
  const auto named = [&](const Value& map) { return map.get_string("metadata.name") == space; };
  make(space, space, red);
  make(space, "b", "blue");
  make(other, space, "blue");
  client.emplace(make_client(config()));
  const auto by_namespace = run(client->resource<ConfigMap>(other));
  const auto by_label = run(client->resource<ConfigMap>(),
                            [&](ListOptions& options) { options.label_selector = "color=" + red; });
  const auto by_field = run(client->metadata(kConfigMaps), [&](ListOptions& options) {
    options.field_selector = "metadata.name=" + space;
  });
  const auto by_both = run(client->dynamic(kConfigMaps, space), [&](ListOptions& options) {
    options.label_selector = "color in (" + red + ")";
    options.field_selector = "metadata.name=" + space;
  });
  const auto all_know = [&] {
    return knows(*by_namespace, {other}) && knows(*by_label, {space, other}, is_red) &&
           knows(*by_field, {space, other}, named) &&
           knows(*by_both, {space}, [&](const Value& map) { return is_red(map) && named(map); });
  };
  ASSERT_TRUE(all_know());
  make(other, "b", red);
  make(space, "c", "green");
  ASSERT_TRUE(all_know());
  for (const auto& request : trace.all("", "configmaps")) {
    EXPECT_TRUE(request.path.find("/namespaces/" + other) != std::string::npos ||
                request.query.find("Selector=") != std::string::npos)
        << request.path << '?' << request.query;
  }
}

// L-8, C-7: an object that no longer matches is deleted for the informer, with the version of the
// change.
TEST_P(InformerOverSockets, ReportsADeletionWhenAnObjectLeavesTheSelection) {
  put("a", "1", {{"color", "red"}});
  put("b", "1", {{"color", "blue"}});
  client.emplace(make_client(config()));
  const auto red = run(client->resource<ConfigMap>(space),
                       [](ListOptions& options) { options.label_selector = "color=red"; });
  const auto is_red = [](const Value& map) {
    return map.get_string("metadata.labels.color") == "red";
  };
  ASSERT_TRUE(knows(*red, {space}, is_red));
  const std::string left = put("a", "2", {{"color", "blue"}});
  const std::string came = put("b", "2", {{"color", "red"}});
  ASSERT_TRUE(knows(*red, {space}, is_red));
  EXPECT_TRUE(red->recorder.wait_for("delete " + space + "/a@" + left));
  EXPECT_TRUE(red->recorder.wait_for("add " + space + "/b@" + came));
}

// R-48, R-15: a bookmark advances the version of the informer and of its cache without a change.
TEST_P(InformerOverFaultySockets, MovesOnWithBookmarks) {
  put("a", "1");
  start_and_sync();
  server->create_json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"other"}})");
  const std::string now = std::to_string(server->revision());
  EXPECT_NE(running->informer.last_sync_resource_version(), now);
  server->send_bookmarks();
  EXPECT_TRUE(eventually([&] { return running->informer.last_sync_resource_version() == now; }));
  EXPECT_TRUE(running->informer.indexer().wait_for_version(now, 10s));
  EXPECT_EQ(running->recorder.events().size(), 1U);

  // The next watch starts there, so a compacted history does no harm.
  server->compact();
  clock.advance(2s);
  server.end_watches();
  ASSERT_TRUE(eventually([&] { return requests("watch") == 2; }));
  put("b", "1");
  ASSERT_TRUE(in_step());
  EXPECT_EQ(seen(What::kWatchExpired), 0);
  EXPECT_NE(trace.all("watch", "configmaps").back().query.find("resourceVersion=" + now),
            std::string::npos);
}

// R-23, R-26: a list in pages has the version of its first page.
TEST_P(InformerOverSockets, ListsInPages) {
  for (int i = 0; i < 7; ++i) put("m" + std::to_string(i), "1");
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.watch_list = false;
  options.page_size = 2;
  // Version "0" is served from the watch cache, without pages.
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>(space),
                                                     [](ListOptions& list) {
                                                       if (list.resource_version == "0") {
                                                         list.resource_version.clear();
                                                       }
                                                     }),
      options);
  ASSERT_TRUE(in_step());
  EXPECT_EQ(requests("list"), 4U);
}

// Y-1, Y-4, Y-6, Y-9, I-19: reads are served by the cache, without a request.
TEST_P(InformerOverSockets, AnswersFromTheCache) {
  const std::string other = server.add_space();
  const LabelList mine{{"test", space}};  // in all namespaces
  put("a", "1", {{"test", space}, {"color", "red"}});
  server.create(config_map(other, "b", "1", mine));
  client.emplace(make_client(config()));
  start(client->resource<ConfigMap>(),
        [&](ListOptions& options) { options.label_selector = "test=" + space; });
  ASSERT_TRUE(eventually([&] { return running->informer.indexer().snapshot().size() == 2; }));
  ASSERT_TRUE(eventually([&] { return is_watching(); }));
  running->informer.add_indexers({{"text", [](const ConfigMap& map) {
                                     return std::vector<std::string>{map.data.find("text")->str()};
                                   }}});
  const std::size_t before = trace.count();
  const Lister<ConfigMap> lister{running->informer.indexer()};
  EXPECT_EQ(lister.list().size(), 2U);
  EXPECT_EQ(lister.in_namespace(other).list().size(), 1U);
  EXPECT_EQ(lister.list(labels::Selector::parse("color=red")).size(), 1U);
  EXPECT_EQ(running->informer.indexer().by_index("text", "1").size(), 2U);
  try {
    (void)lister.in_namespace(space).get("none");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
    EXPECT_STREQ(error.what(), "configmap \"none\" not found");
  }
  EXPECT_EQ(trace.count(), before);
  running->stop();
  EXPECT_EQ(lister.list().size(), 2U);
}

// S-13, S-16: handlers are added and removed while the informer runs.
TEST_P(InformerOverSockets, TakesHandlersThatComeLate) {
  put("a", "1");
  start_and_sync();
  RecorderOf<ConfigMap> late;
  const auto registration = running->informer.add_event_handler(late.handler());
  put("b", "1");
  EXPECT_TRUE(eventually([&] { return late.believes() == shown(server, {space}); }));
  EXPECT_TRUE(registration.has_synced());
  running->informer.remove_event_handler(registration, Removal::kAtOnceAndWait);
  put("c", "1");
  ASSERT_TRUE(in_step());
  EXPECT_EQ(late.events().size(), 2U);
}

// L-5: a watch that cannot be opened leaks nothing.
TEST_P(InformerOverFaultySockets, LeaksNothingOfARefusedWatch) {
  client.emplace(make_client(config()));
  ResourceListWatch<ConfigMap> source{client->resource<ConfigMap>()};
  server->faults().next(3).matching({.verb = "watch"}).respond(403);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW((void)source.watch({.resource_version = "1"}, {}), ApiError);
  }
  EXPECT_EQ(server->watch_count(), 0U);
  EXPECT_LE(server->connection_count(), 1U);  // for the next one
  EXPECT_NE(source.watch({.resource_version = std::to_string(server->revision())}, {}), nullptr);
  EXPECT_TRUE(eventually([&] { return server->watch_count() == 0; }));
}

class CountingLimiter final : public RateLimiter {
 public:
  bool wait(std::stop_token /*stop*/) override {
    ++asked;
    return true;
  }
  std::atomic<std::size_t> asked = 0;
};

// L-11: watches do not count towards the client-side rate limit.
TEST_P(InformerOverSockets, OpensWatchesWithoutALimit) {
  const auto limiter = std::make_shared<CountingLimiter>();
  client.emplace(config(), trace.following({.clock = &clock, .rate_limiter = limiter}));
  put("a", "1");
  start_and_sync();
  for (std::size_t round = 2; round < 6; ++round) {
    clock.advance(1min);
    server.end_watches();
    ASSERT_TRUE(eventually([&] { return requests("watch") == round; }));
  }
  EXPECT_EQ(limiter->asked, requests("list"));
}

/// Returns the value of a series in the Prometheus text; -1 if there is none.
double value_in(const std::string& text, const std::string& series) {
  const std::size_t at = text.find('\n' + series + ' ');
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

// M-1 to M-4, K-23: metrics of the whole data path.
TEST_P(InformerOverSockets, WritesMetricsForPrometheus) {
  const auto metrics = std::make_shared<Metrics>();
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.metrics = InformerMetrics::in(metrics, {{"resource", "configmaps"}});
  put("a", "1");
  put("b", "1");
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>(space)), options);
  ASSERT_TRUE(in_step());
  ASSERT_TRUE(eventually([&] { return is_watching(); }));
  put("c", "1");
  remove("a");
  const auto now = std::stod(put("c", "2"));
  ASSERT_TRUE(in_step());
  std::string text;
  const auto value = [&](const std::string& name) {
    return value_in(text, name + "{resource=\"configmaps\"}");
  };
  ASSERT_TRUE(eventually([&] {
    text = metrics->text();
    return value("informer_handler_duration_seconds_count") == 5 &&
           value("informer_event_lag_seconds_count") >= 1 &&
           value("informer_store_resource_version") == now &&
           value("reflector_last_resource_version") == now;
  })) << text;
  clock.advance(90s);
  text = metrics->text();
  const auto of_type = [&](const std::string& type) {
    return value_in(text, "reflector_events_total{resource=\"configmaps\",type=\"" + type + "\"}");
  };
  EXPECT_EQ(value("informer_objects"), 2);
  EXPECT_GT(value("informer_bytes"), 500);
  EXPECT_EQ(value("informer_queued_items"), 0);
  EXPECT_EQ(value("informer_listener_backlog"), 0);
  EXPECT_EQ(value("reflector_lists_total"), setup.watch_list ? 0 : 1);
  EXPECT_EQ(value("reflector_watches_total"), 1);
  EXPECT_GE(value("reflector_last_event_age_seconds"), 90);
  EXPECT_GE(value("reflector_last_bookmark_age_seconds"),
            value("reflector_last_event_age_seconds"));
  EXPECT_EQ(of_type("added"), setup.watch_list ? 3 : 1);
  EXPECT_EQ(of_type("modified"), 1);
  EXPECT_EQ(of_type("deleted"), 1);
  // A real server sends more bookmarks, by its own clock.
  const double bookmarks = setup.watch_list ? 1 : 0;
  EXPECT_GE(of_type("bookmark"), bookmarks);
  if (!server.is_real()) {
    EXPECT_EQ(of_type("bookmark"), bookmarks);
  }
  EXPECT_EQ(value_in(text, "reflector_relists_total{reason=\"expired\",resource=\"configmaps\"}"),
            0);
}

// M-3, R-38
TEST_P(InformerOverFaultySockets, CountsListsAfterVeryShortWatches) {
  const auto metrics = std::make_shared<Metrics>();
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.metrics = InformerMetrics::in(metrics, {{"resource", "configmaps"}});
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>(space)), options);
  ASSERT_TRUE(in_step());
  ASSERT_TRUE(eventually([&] { return is_watching(); }));
  put("a", "1");
  ASSERT_TRUE(in_step());
  clock.advance(90s);
  server->faults()
      .next()
      .matching({.verb = "watch"})
      .respond(200, {}, "", {{"Content-Type", std::string{setup.content_type}}});
  server.end_watches();
  ASSERT_TRUE(eventually([&] {
    return value_in(metrics->text(),
                    "reflector_relists_total{reason=\"short_watch\",resource=\"configmaps\"}") == 1;
  }));
  ASSERT_TRUE(in_step());
}

// S-5, K-26: stopping does not wait for the server, in any state of the informer.
TEST_P(InformerOverSockets, StopsAtOnce) {
  server.go_silent();
  start();
  ASSERT_TRUE(eventually([&] { return trace.count("", "configmaps") > 0; }));
  running->stop();
  EXPECT_FALSE(running->informer.has_synced());
  EXPECT_TRUE(running->informer.is_stopped());
}

INSTANTIATE_TEST_SUITE_P(WireSetups, InformerOverSockets, ::testing::ValuesIn(wire_setups()),
                         setup_name);
INSTANTIATE_TEST_SUITE_P(WireSetups, InformerOverFaultySockets, ::testing::ValuesIn(wire_setups()),
                         setup_name);

}  // namespace
}  // namespace kube
