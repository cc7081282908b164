// SPDX-License-Identifier: Apache-2.0
// An informer over sockets: what works when nothing goes wrong.
#include "road.hpp"

#include <kube/base/metrics.hpp>
#include <kube/cache/lister.hpp>
#include <kube/client/rate_limiter.hpp>

#include <atomic>

namespace kube {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using Metadata = meta::v1::PartialObjectMetadata;

class InformerOverSockets : public RoadTest, public ::testing::WithParamInterface<Road> {
 protected:
  InformerOverSockets() : RoadTest(GetParam()) {}

  template <typename T>
  std::unique_ptr<Running<T>> run(Resource<T> resource,
                                  std::function<void(ListOptions&)> tweak = nullptr) {
    return std::make_unique<Running<T>>(
        std::make_shared<ResourceListWatch<T>>(std::move(resource), std::move(tweak)),
        informer_options<T>());
  }
  /// Waits until cache and handler know exactly what of the server's objects fits.
  template <typename T>
  bool knows(Running<T>& informer, std::string_view space = {},
             const std::function<bool(const Value&)>& where = nullptr) {
    return eventually([&] {
             const std::string truth = shown(server, space, where);
             return informer.informer.has_synced() && shown(informer.informer.indexer()) == truth &&
                    informer.recorder.believes() == truth;
           }) &&
           informer.recorder.contradiction().empty();
  }
};

// Consistency promise, C-7, R-32, W-2, W-7: one request or two bring the state and what happens from there on.
TEST_P(InformerOverSockets, FollowsTheServer) {
  put("a", "1");
  put("b", "1");
  start_and_sync();
  const std::string first_a = std::to_string(server.revision() - 1);
  put("c", "1");
  put("a", "2");
  remove("b");
  ASSERT_TRUE(in_step());

  EXPECT_TRUE(running->registration.has_synced());
  EXPECT_TRUE(running->recorder.wait_for("update default/a@" + first_a + '>' +
                                         std::to_string(server.revision() - 1)));
  EXPECT_TRUE(running->recorder.wait_for("delete default/b@" + std::to_string(server.revision())));
  EXPECT_EQ(running->recorder.events().size(), 5U);
  EXPECT_EQ(requests("list"), road.watch_list ? 0U : 1U);
  EXPECT_EQ(requests("watch"), 1U);
  EXPECT_EQ(running->informer.last_error(), "");
}

// N-2, N-6: objects without a type, and without anything but metadata, take the same road.
TEST_P(InformerOverSockets, BringsObjectsInEveryForm) {
  server.create(config_map("default", "a", "1", {{"color", "red"}}));
  client.emplace(make_client(config()));
  const auto typed = run(client->resource<ConfigMap>());
  const auto untyped = run(client->dynamic(kConfigMapsV1));
  const auto metadata = run(client->metadata(kConfigMapsV1));
  ASSERT_TRUE(knows(*typed));
  ASSERT_TRUE(knows(*untyped));
  ASSERT_TRUE(knows(*metadata));
  server.create(config_map("default", "a", "2", {{"color", "blue"}}));
  put("b", "1");
  ASSERT_TRUE(knows(*typed));
  ASSERT_TRUE(knows(*untyped));
  ASSERT_TRUE(knows(*metadata));

  const Ref<Value> truth = server.find(kConfigMaps, "default", "a");
  EXPECT_EQ(*typed->informer.indexer().find("default/a"), *server.find<ConfigMap>("default", "a"));
  EXPECT_EQ(encode_json(*untyped->informer.indexer().find("default/a")), encode_json(*truth));
  const Ref<Metadata> seen = metadata->informer.indexer().find("default", "a");
  EXPECT_EQ(*seen->metadata.labels.find("color"), "blue");
  EXPECT_EQ(seen->metadata.uid.view(), truth->get_string("metadata.uid"));
  EXPECT_EQ(metadata->informer.indexer().list("", labels::Selector::parse("color=blue")).size(),
            1U);
}

// L-4, N-5: requests carry the namespace and the selectors, so the server sends nothing else.
TEST_P(InformerOverSockets, SeesOnlyItsNamespaceAndItsSelection) {
  const auto red = [](const Value& map) {
    return map.get_string("metadata.labels.color") == "red";
  };
  const auto named = [](const Value& map) { return map.get_string("metadata.name") == "a"; };
  server.create(config_map("default", "a", "1", {{"color", "red"}}));
  server.create(config_map("default", "b", "1", {{"color", "blue"}}));
  server.create(config_map("kube-system", "a", "1", {{"color", "blue"}}));
  client.emplace(make_client(config()));
  const auto by_namespace = run(client->resource<ConfigMap>("kube-system"));
  const auto by_label = run(client->resource<ConfigMap>(),
                            [](ListOptions& options) { options.label_selector = "color=red"; });
  const auto by_field = run(client->metadata(kConfigMapsV1), [](ListOptions& options) {
    options.field_selector = "metadata.name=a";
  });
  const auto by_both = run(client->dynamic(kConfigMapsV1, "default"), [](ListOptions& options) {
    options.label_selector = "color in (red)";
    options.field_selector = "metadata.name=a";
  });
  const auto all_know = [&] {
    return knows(*by_namespace, "kube-system") && knows(*by_label, "", red) &&
           knows(*by_field, "", named) &&
           knows(*by_both, "default", [&](const Value& map) { return red(map) && named(map); });
  };
  ASSERT_TRUE(all_know());
  server.create(config_map("kube-system", "b", "1", {{"color", "red"}}));
  server.create(config_map("default", "c", "1", {{"color", "green"}}));
  ASSERT_TRUE(all_know());
  for (const auto& request : server.requests().entries({.resource = "configmaps"})) {
    EXPECT_TRUE(request.info.namespace_ == "kube-system" ||
                request.info.query.find("Selector=") != std::string::npos)
        << request.info.path << '?' << request.info.query;
  }
}

// L-8, C-7: what does not fit any more is gone for the informer, with the version of the change.
TEST_P(InformerOverSockets, HearsOfADeletionWhenAnObjectLeavesTheSelection) {
  server.create(config_map("default", "a", "1", {{"color", "red"}}));
  server.create(config_map("default", "b", "1", {{"color", "blue"}}));
  client.emplace(make_client(config()));
  const auto red = run(client->resource<ConfigMap>(),
                       [](ListOptions& options) { options.label_selector = "color=red"; });
  const auto is_red = [](const Value& map) {
    return map.get_string("metadata.labels.color") == "red";
  };
  ASSERT_TRUE(knows(*red, "", is_red));
  server.create(config_map("default", "a", "2", {{"color", "blue"}}));
  server.create(config_map("default", "b", "2", {{"color", "red"}}));
  ASSERT_TRUE(knows(*red, "", is_red));
  const std::uint64_t last = server.revision();
  EXPECT_TRUE(red->recorder.wait_for("delete default/a@" + std::to_string(last - 1)));
  EXPECT_TRUE(red->recorder.wait_for("add default/b@" + std::to_string(last)));
}

// R-48, R-15: a bookmark moves the version on, for the informer and for its cache, though nothing changed.
TEST_P(InformerOverSockets, MovesOnWithBookmarks) {
  put("a", "1");
  start_and_sync();
  server.create_json(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"other"}})");
  const std::string now = std::to_string(server.revision());
  EXPECT_NE(running->informer.last_sync_resource_version(), now);
  server.send_bookmarks();
  EXPECT_TRUE(eventually([&] { return running->informer.last_sync_resource_version() == now; }));
  EXPECT_TRUE(running->informer.indexer().wait_for_version(now, {},
                                                           std::chrono::steady_clock::now() + 10s));
  EXPECT_EQ(running->recorder.events().size(), 1U);

  // So the next watch begins there, and a server that has forgotten what was before is no trouble.
  server.compact();
  clock.advance(2s);
  server.end_watches();
  ASSERT_TRUE(eventually([&] { return requests("watch") == 2; }));
  put("b", "1");
  ASSERT_TRUE(in_step());
  EXPECT_EQ(seen(What::kWatchExpired), 0);
  EXPECT_NE(server.requests()
                .entries({.verb = "watch", .resource = "configmaps"})
                .back()
                .info.query.find("resourceVersion=" + now),
            std::string::npos);
}

// R-23, R-26: a list that comes in pages, and its version is that of the first.
TEST_P(InformerOverSockets, ListsInPages) {
  for (int i = 0; i < 7; ++i) put("m" + std::to_string(i), "1");
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.reflector.watch_list = false;
  options.reflector.page_size = 2;
  // The version "0" is answered from memory, without pages.
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>(),
                                                     [](ListOptions& list) {
                                                       if (list.resource_version == "0") {
                                                         list.resource_version.clear();
                                                       }
                                                     }),
      options);
  ASSERT_TRUE(in_step());
  EXPECT_EQ(requests("list"), 4U);
}

// Y-1, Y-4, Y-6, Y-9, I-19: the cache answers, without a request.
TEST_P(InformerOverSockets, AnswersFromTheCache) {
  server.create(config_map("default", "a", "1", {{"color", "red"}}));
  put("b", "1", "kube-system");
  start_and_sync();
  running->informer.add_indexers({{"text", [](const ConfigMap& map) {
                                     return std::vector<std::string>{map.data.find("text")->str()};
                                   }}});
  const std::uint64_t before = server.requests().total();
  const Lister<ConfigMap> lister{running->informer.indexer()};
  EXPECT_EQ(lister.list().size(), 2U);
  EXPECT_EQ(lister.in_namespace("kube-system").list().size(), 1U);
  EXPECT_EQ(lister.list(labels::Selector::parse("color=red")).size(), 1U);
  EXPECT_EQ(running->informer.indexer().by_index("text", "1").size(), 2U);
  try {
    (void)lister.in_namespace("default").get("none");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
    EXPECT_STREQ(error.what(), "configmap \"none\" not found");
  }
  EXPECT_EQ(server.requests().total(), before);
  running->stop();
  EXPECT_EQ(lister.list().size(), 2U);
}

// S-13, S-16: handlers come and go while the informer runs.
TEST_P(InformerOverSockets, TakesHandlersThatComeLate) {
  put("a", "1");
  start_and_sync();
  RecorderOf<ConfigMap> late;
  const auto registration = running->informer.add_event_handler(late.handler());
  put("b", "1");
  EXPECT_TRUE(eventually([&] { return late.believes() == shown(server); }));
  EXPECT_TRUE(registration.has_synced());
  running->informer.remove_event_handler(registration, Removal::kAtOnceAndWait);
  put("c", "1");
  ASSERT_TRUE(in_step());
  EXPECT_EQ(late.events().size(), 2U);
}

// L-5: a watch that cannot be opened leaves nothing behind.
TEST_P(InformerOverSockets, LeavesNothingOfAWatchThatIsRefused) {
  client.emplace(make_client(config()));
  ResourceListWatch<ConfigMap> source{client->resource<ConfigMap>()};
  server.faults().next(3).matching({.verb = "watch"}).respond(403);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW((void)source.watch({.resource_version = "1"}, {}), ApiError);
  }
  EXPECT_EQ(server.watch_count(), 0U);
  EXPECT_LE(server.connection_count(), 1U);  // for the next one
  EXPECT_NE(source.watch({.resource_version = std::to_string(server.revision())}, {}), nullptr);
  EXPECT_TRUE(eventually([&] { return server.watch_count() == 0; }));
}

class CountingLimiter final : public RateLimiter {
 public:
  bool wait(std::stop_token /*stop*/) override {
    ++asked;
    return true;
  }
  std::atomic<std::size_t> asked = 0;
};

// L-11: watches do not count for the client's own limit of its rate.
TEST_P(InformerOverSockets, OpensWatchesWithoutALimit) {
  const auto limiter = std::make_shared<CountingLimiter>();
  client.emplace(config(), ClientOptions{.clock = &clock, .rate_limiter = limiter});
  put("a", "1");
  start_and_sync();
  for (std::size_t round = 2; round < 6; ++round) {
    clock.advance(1min);
    server.end_watches();
    ASSERT_TRUE(eventually([&] { return requests("watch") == round; }));
  }
  EXPECT_EQ(limiter->asked, requests("list"));
}

/// The value of a series in the text that Prometheus reads; -1 if there is none.
double value_in(const std::string& text, const std::string& series) {
  const std::size_t at = text.find('\n' + series + ' ');
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
}

// M-1 to M-4, K-23: what can be seen from outside, on the whole road.
TEST_P(InformerOverSockets, WritesMetricsForPrometheus) {
  const auto metrics = std::make_shared<Metrics>();
  client.emplace(make_client(config()));
  InformerOptions<ConfigMap> options = informer_options<ConfigMap>();
  options.reflector.metrics = InformerMetrics::in(metrics, {{"resource", "configmaps"}});
  put("a", "1");
  put("b", "1");
  running = std::make_unique<Running<ConfigMap>>(
      std::make_shared<ResourceListWatch<ConfigMap>>(client->resource<ConfigMap>()), options);
  ASSERT_TRUE(in_step());
  put("c", "1");
  put("c", "2");
  remove("a");
  ASSERT_TRUE(in_step());
  ASSERT_TRUE(eventually([&] { return server.watch_count() == 1; }));
  std::string text;
  const auto value = [&](const std::string& name) {
    return value_in(text, name + "{resource=\"configmaps\"}");
  };
  const auto now = static_cast<double>(server.revision());
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
  EXPECT_EQ(value("reflector_lists_total"), road.watch_list ? 0 : 1);
  EXPECT_EQ(value("reflector_watches_total"), 1);
  EXPECT_GE(value("reflector_last_event_age_seconds"), 90);
  EXPECT_GE(value("reflector_last_bookmark_age_seconds"),
            value("reflector_last_event_age_seconds"));
  EXPECT_EQ(of_type("added"), road.watch_list ? 3 : 1);
  EXPECT_EQ(of_type("modified"), 1);
  EXPECT_EQ(of_type("deleted"), 1);
  EXPECT_EQ(of_type("bookmark"), road.watch_list ? 1 : 0);
  EXPECT_EQ(value_in(text, "reflector_relists_total{reason=\"expired\",resource=\"configmaps\"}"),
            0);

  server.faults()
      .next()
      .matching({.verb = "watch"})
      .respond(200, {}, "", {{"Content-Type", road.content_type}});
  server.end_watches();
  ASSERT_TRUE(eventually([&] {
    return value_in(metrics->text(),
                    "reflector_relists_total{reason=\"short_watch\",resource=\"configmaps\"}") == 1;
  }));
  ASSERT_TRUE(in_step());
}

// S-5, K-26: stopping does not wait for the server, wherever the informer stands.
TEST_P(InformerOverSockets, StopsAtOnce) {
  server.faults().always().matching({.resource = "configmaps"}).go_silent();
  start();
  ASSERT_TRUE(server.requests().wait_for({.resource = "configmaps"}, 1) ||
              server.faults().struck() > 0);
  running->stop();
  EXPECT_FALSE(running->informer.has_synced());
  EXPECT_TRUE(running->informer.is_stopped());
}

INSTANTIATE_TEST_SUITE_P(Roads, InformerOverSockets, ::testing::ValuesIn(kRoads), road_name);

}  // namespace
}  // namespace kube
