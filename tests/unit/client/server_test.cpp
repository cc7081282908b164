// SPDX-License-Identifier: Apache-2.0
// The client against an API server with full semantics, in-process or real.
#include <kube/api/apps/v1.hpp>
#include <kube/api/authentication/v1.hpp>
#include <kube/api/autoscaling/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/discovery.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/retry.hpp>

#include "support/test_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using apps::v1::Deployment;
using core::v1::ConfigMap;
using testing::ElementsAre;
using testing::HasSubstr;

struct ServerTest : testing::Test {
  Ref<ConfigMap> make(const std::string& name, const std::string& color = "red") const {
    return maps.create(
        {.metadata = {.name = name, .labels = {{"color", color}}}, .data = {{"color", color}}});
  }

  testing_support::TestServer server;
  const Client client{server.config()};
  const std::string space = server.space();
  const Resource<ConfigMap> maps = client.resource<ConfigMap>(space);
};

Deployment deployment(const std::string& name) {
  Deployment made{.metadata = {.name = name},
                  .spec = {.replicas = 2, .selector = {{.match_labels = {{"app", name}}}}}};
  made.spec.template_.metadata.labels = {{"app", name}};
  made.spec.template_.spec.containers.push_back({.name = "main", .image = "nginx"});
  return made;
}

TEST_F(ServerTest, StoresReadsAndDeletesObjects) {
  const Ref<ConfigMap> made = make("a");
  EXPECT_FALSE(made->metadata.uid.empty());
  EXPECT_EQ(*maps.get("a"), *made);
  EXPECT_EQ(maps.find("none"), nullptr);
  EXPECT_TRUE(is_already_exists([&] {
    try {
      make("a");
    } catch (const ApiError& error) {
      return error;
    }
    return ApiError{0, "no error"};
  }()));

  maps.delete_("a", {.uid = made->metadata.uid.str()});
  EXPECT_EQ(maps.find("a"), nullptr);
}

// RC-46
TEST_F(ServerTest, DetectsConflictsAndResolvesThem) {
  ConfigMap stale = *make("a");
  ConfigMap fresh = stale;
  fresh.data["n"] = "1";
  maps.update(fresh);
  stale.data["n"] = "2";
  try {
    maps.update(stale);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_conflict(error));
  }
  retry_on_conflict([&] {
    ConfigMap mine = *maps.get("a");
    mine.data["n"] = "3";
    return maps.update(mine);
  });
  EXPECT_EQ(*maps.get("a")->data.find("n"), "3");
}

// RC-50, RC-51, RC-52
TEST_F(ServerTest, PatchesAndApplies) {
  make("a");
  maps.patch("a", PatchType::kMerge, R"({"data":{"x":"1"}})");
  maps.patch("a", PatchType::kJson, R"([{"op":"add","path":"/data/y","value":"2"}])");
  maps.patch("a", PatchType::kStrategicMerge, R"({"data":{"color":null}})",
             {.field_manager = "me"});
  ConfigMap wanted{.metadata = {.name = "a"}, .data = {{"x", "9"}}};
  try {
    maps.apply(wanted, {.field_manager = "applier"});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_conflict(error));
    EXPECT_TRUE(has_cause(error, meta::v1::cause_type::kFieldManagerConflict));
  }
  maps.apply(wanted, {.field_manager = "applier", .force = true});
  const Ref<ConfigMap> map = maps.get("a");
  EXPECT_EQ(*map->data.find("x"), "9");
  EXPECT_EQ(*map->data.find("y"), "2");
  EXPECT_EQ(map->data.find("color"), nullptr);

  maps.apply({.metadata = {.name = "new"}, .data = {{"a", "b"}}},
             {.field_manager = "applier", .dry_run = true});
  EXPECT_EQ(maps.find("new"), nullptr);
}

TEST_F(ServerTest, ListsInPagesAndBySelector) {
  for (int i = 0; i < 7; ++i) make("m" + std::to_string(i), i % 2 == 0 ? "red" : "blue");
  const Listed<ConfigMap> paged = maps.list_all({}, {.page_size = 2});
  EXPECT_GE(paged.items.size(), 7U);
  EXPECT_FALSE(paged.metadata.resource_version.empty());
  EXPECT_EQ(maps.list({.label_selector = "color=blue"}).items.size(), 3U);
  EXPECT_EQ(maps.list({.field_selector = "metadata.name=m1"}).items.size(), 1U);
  const Listed<ConfigMap> cut = maps.list({.limit = 2});
  EXPECT_EQ(cut.items.size(), 2U);
  EXPECT_FALSE(cut.metadata.continue_token.empty());

  // RC-54
  maps.delete_collection({}, {.label_selector = "color=red"});
  EXPECT_EQ(maps.list({.label_selector = "color=red"}).items.size(), 0U);
  EXPECT_EQ(maps.list({.label_selector = "color=blue"}).items.size(), 3U);
}

// RC-30..RC-36
TEST_F(ServerTest, AnswersInEveryForm) {
  make("a");
  const GroupVersionResource resource{"", "v1", "configmaps"};
  const Ref<Value> untyped = client.dynamic(resource, space).get("a");
  EXPECT_EQ(untyped->get_string("data.color"), "red");
  for (const Ref<Value>& item : client.dynamic(resource, space).list().items) {
    EXPECT_EQ(item->get_string("kind"), "ConfigMap");
  }
  const auto metadata = client.metadata(resource, space);
  EXPECT_EQ(metadata.get("a")->metadata.name, "a");
  EXPECT_FALSE(metadata.list().items.empty());
  EXPECT_EQ(*metadata.patch("a", PatchType::kMerge, R"({"metadata":{"labels":{"x":"y"}}})")
                 ->metadata.labels.find("x"),
            "y");
  Config json = client.config();
  json.content_type = "application/json";
  EXPECT_EQ(*Client{json}.resource<ConfigMap>(space).get("a"), *maps.get("a"));
  const Ref<meta::v1::Table> table = maps.table({.field_selector = "metadata.name=a"});
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->column_definitions.front().name, "Name");
}

// RC-55
TEST_F(ServerTest, HasSubresources) {
  const auto deployments = client.apps().v1().deployments(space);
  Deployment web = *deployments.create(deployment("web"));
  web.status.replicas = 2;
  web.status.observed_generation = 1;
  EXPECT_EQ(deployments.update_status(web)->status.replicas, 2);
  EXPECT_EQ(deployments.get_status("web")->status.replicas, 2);
  autoscaling::v1::Scale scale = *deployments.get_scale("web");
  EXPECT_EQ(scale.spec.replicas, 2);
  scale.spec.replicas = 4;
  EXPECT_EQ(deployments.update_scale("web", scale)->spec.replicas, 4);
  EXPECT_EQ(deployments.get("web")->spec.replicas, 4);
}

// WA-1..WA-5
TEST_F(ServerTest, WatchesReportChanges) {
  const std::string version = maps.list().metadata.resource_version;
  Watch<ConfigMap> watch = maps.watch({.label_selector = "color", .resource_version = version});
  Watch<Value> untyped = client.dynamic({"", "v1", "configmaps"}, space)
                             .watch({.label_selector = "color", .resource_version = version});
  make("a");
  maps.patch("a", PatchType::kMerge, R"({"data":{"x":"1"}})");
  maps.delete_("a");
  for (const EventType expected : {EventType::kAdded, EventType::kModified, EventType::kDeleted}) {
    const auto event = watch.next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->type, expected);
    EXPECT_EQ(event->object->metadata.name, "a");
    const auto same = untyped.next();
    ASSERT_TRUE(same);
    EXPECT_EQ(same->type, expected);
  }
  std::jthread stopper{[&] { watch.stop(); }};
  EXPECT_EQ(watch.next(), std::nullopt);
}

// WA-3: the list as a stream.
TEST_F(ServerTest, StartsAWatchWithExistingObjects) {
  make("a");
  make("b");
  Watch<ConfigMap> watch = maps.watch({.label_selector = "color",
                                       .resource_version_match = "NotOlderThan",
                                       .allow_watch_bookmarks = true,
                                       .send_initial_events = true});
  EXPECT_EQ(watch.next()->type, EventType::kAdded);
  EXPECT_EQ(watch.next()->type, EventType::kAdded);
  const auto end = watch.next();
  EXPECT_EQ(end->type, EventType::kBookmark);
  EXPECT_NE(end->object->metadata.annotations.find("k8s.io/initial-events-end"), nullptr);
}

TEST_F(ServerTest, WatchesWaitNoLongerThanTheirTimeout) {
  const std::string version = make("first")->metadata.resource_version.str();
  Watch<ConfigMap> watch = maps.watch({.label_selector = "color", .resource_version = version});
  EXPECT_FALSE(watch.next_for(1ms));
  EXPECT_FALSE(watch.has_ended());
  make("second");
  std::optional<WatchEvent<ConfigMap>> event;
  for (int i = 0; i < 100 && !event; ++i) event = watch.next_for(100ms);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object->metadata.name, "second");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(watch.next_for(1h, stop.get_token()));
  EXPECT_TRUE(watch.has_ended());
}

// WA-11
TEST_F(ServerTest, ReportsAnExpiredVersion) {
  make("a");
  if (!server.is_real()) server->compact();
  int code = 0;
  try {
    Watch<ConfigMap> watch = maps.watch({.resource_version = "1", .timeout = 5s});
    const auto event = watch.next();
    if (event && event->type == EventType::kError) code = event->status->code;
  } catch (const ApiError& error) {
    code = error.code();
  }
  EXPECT_EQ(code, 410);
}

TEST_F(ServerTest, ContinuesAfterTheWatchesEnd) {
  const auto listed = maps.list();
  RetryWatch<ConfigMap> watch =
      maps.retry_watch({.label_selector = "color",
                        .resource_version = listed.metadata.resource_version,
                        .timeout = 1s});
  make("a");
  EXPECT_EQ(watch.next()->object->metadata.name, "a");
  server.end_watches();
  server.create(
      ConfigMap{.metadata = {.name = "b", .namespace_ = space, .labels = {{"color", "red"}}}});
  EXPECT_EQ(watch.next()->object->metadata.name, "b");
}

// RC-60, RC-61
TEST_F(ServerTest, ListsItsResources) {
  RestMapper mapper{client};
  EXPECT_EQ(mapper.for_text("deploy").resource,
            (GroupVersionResource{"apps", "v1", "deployments"}));
  EXPECT_EQ(mapper.for_kind({"", "v1", "ConfigMap"}).resource.resource, "configmaps");
  EXPECT_EQ(mapper.api()->failures.size(), 0U);
  const Discovery discovery{client};
  EXPECT_THAT(discovery.server_version().git_version, testing::StartsWith("v1."));
  EXPECT_TRUE(discovery.health("/livez").ok);
  EXPECT_EQ(client.raw().get("/healthz"), "ok");
}

// RC-41, RC-43
TEST_F(ServerTest, ReportsErrorsInDetail) {
  try {
    client.apps().v1().deployments(space).create({.metadata = {.name = "Not_A_Name"}});
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_invalid(error)) << error.what();
    EXPECT_FALSE(error.status().details->causes.empty());
  }
  try {
    (void)client.dynamic({"example.com", "v1", "nothings"}, space).find("a");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
    EXPECT_TRUE(is_unexpected_server_error(error)) << "the resource is absent, not the object";
  }
}

}  // namespace
}  // namespace kube
