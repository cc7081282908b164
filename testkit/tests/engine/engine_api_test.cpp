// SPDX-License-Identifier: Apache-2.0
// The engine's C++ interface: seeds, hooks, persistence.
#include <kube/api/errors.hpp>

#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;

const char* const kSeed =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"made"},"spec":{"containers":[]},"status":{"phase":"Running"}})";

TEST(Engine, SeedsObjectsUnchanged) {
  Api api;
  const Ref<Value> pod = api.engine.seed(kSeed);
  EXPECT_EQ(pod->get_string("status.phase"), "Running");
  EXPECT_TRUE(pod->get_string("metadata.uid"));
  EXPECT_EQ(api.get("/api/v1/namespaces/made").status(), 200);
  EXPECT_EQ(api.engine.find({"", "pods"}, "made", "p")->get_string("metadata.name"), "p");
  EXPECT_EQ(api.engine.list({"", "pods"}).size(), 1U);
  EXPECT_EQ(api.engine.list({"", "pods"}, "default").size(), 0U);
  EXPECT_TRUE(api.engine.remove({"", "pods"}, "made", "p"));
  EXPECT_FALSE(api.engine.remove({"", "pods"}, "made", "p"));
  EXPECT_FALSE(api.engine.find({"", "pods"}, "made", "p"));
  EXPECT_THROW(api.engine.seed(R"({"apiVersion":"v7","kind":"Pod","metadata":{"name":"p"}})"),
               Error);
}

TEST(Engine, RequestsOfControllers) {
  Api api;
  api.engine.request("POST", kConfigMaps,
                     Value::object({{"metadata", Value::object({{"name", "a"}})}}));
  EXPECT_EQ(api.engine.request("GET", std::string{kConfigMaps} + "/a")->get_string("metadata.name"),
            "a");
  try {
    api.engine.request("GET", std::string{kConfigMaps} + "/b");
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_TRUE(is_not_found(error));
  }
}

TEST(Engine, HooksSeeWritesInOrderAndMayWrite) {
  Api api;
  std::vector<std::string> seen;
  auto hook = api.engine.on_change({"", "configmaps"}, [&](const Change& change) {
    seen.push_back(std::string{change.name} + (change.type == Change::Type::kDeleted ? "-" : "+"));
    if (change.type == Change::Type::kAdded) {
      api.engine.remove({"", "configmaps"}, change.namespace_, change.name);
    }
    EXPECT_THAT(change.json(), testing::HasSubstr("\"kind\":\"ConfigMap\""));
  });
  api.make_config_map("a");
  api.make_pod("p");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_THAT(seen, ElementsAre("a+", "a-"));
  hook.reset();
  api.make_config_map("b");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(seen.size(), 2U);
}

TEST(Engine, JournalComesBeforeTheWrite) {
  std::vector<std::string> lines;
  bool broken = false;
  Api api{{.journal = [&](const Change& change) {
    if (broken) throw Error("disk full");
    lines.push_back(std::to_string(change.revision) + " " + std::string{change.resource} + " " +
                    std::string{change.name});
  }}};
  lines.clear();
  const std::string version = api.make_config_map("a").version();
  EXPECT_THAT(lines, ElementsAre(version + " configmaps a"));
  broken = true;
  const ApiReply failed = api.make_config_map("b");
  EXPECT_EQ(failed.status(), 500);  // ER-4
  EXPECT_EQ(failed.reason(), "");
  broken = false;
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "/b").status(), 404);
  EXPECT_EQ(std::to_string(api.engine.revision()), version);
}

TEST(Engine, ContentCanBeExportedAndImported) {
  Api first;
  first.make_widgets();
  first.post(
      kWidgets,
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"color":"red"}})");
  first.engine.seed(kSeed);
  const std::vector<ObjectState> objects = first.engine.export_objects();

  Api second;
  WatchReader watch = second.watch("/api/v1/pods?watch=1");
  second.engine.import_objects(objects, first.engine.revision());
  EXPECT_EQ(watch.next().type, "END");
  EXPECT_EQ(second.engine.revision(), first.engine.revision());
  EXPECT_EQ(second.get(std::string{kWidgets} + "/w").text(),
            first.get(std::string{kWidgets} + "/w").text());
  EXPECT_EQ(second.get("/api/v1/pods").text(), first.get("/api/v1/pods").text());
  EXPECT_EQ(second.watch("/api/v1/pods?watch=1&resourceVersion=2").next().type, "ERROR");  // WT-13
  EXPECT_EQ(second.make_config_map("new").version(), std::to_string(first.engine.revision() + 1));

  second.engine.reset();
  EXPECT_EQ(second.get("/api/v1/namespaces").names().size(), 4U);
  EXPECT_EQ(second.get("/api/v1/pods").names().size(), 0U);
  ASSERT_TRUE(second.engine.settle());
  EXPECT_EQ(second.get(kWidgets).status(), 404);
}

// BK-6
TEST(Engine, RevisionsCanBeSet) {
  Api api;
  for (const char* next : {"99", "100", "9999999", "10000000", "12345678901"}) {
    api.engine.set_next_revision(std::stoull(next));
    EXPECT_EQ(api.make_config_map(std::string{"v"} + next).version(), next);
    EXPECT_EQ(api.get(std::string{kConfigMaps} + "/v" + next).version(), next);
  }
}

TEST(Engine, SameSeedGivesTheSameNames) {
  Api a{{.seed = 5}};
  Api b{{.seed = 5}};
  EXPECT_EQ(a.make_config_map("x").text(), b.make_config_map("x").text());
}

}  // namespace
}  // namespace kube::testkit::detail
