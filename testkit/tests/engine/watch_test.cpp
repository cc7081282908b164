// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/envelope.hpp>
#include <kube/codec/protobuf.hpp>

#include <gmock/gmock.h>

#include <thread>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string from(const std::string& version) {
  return std::string{kConfigMaps} + "?watch=1&resourceVersion=" + version;
}

// WT-1, WT-2
TEST(Watch, SendsEveryLaterChangeInOrder) {
  Api api;
  const std::string start = api.make_config_map("a").version();
  WatchReader watch = api.watch(from(start));
  EXPECT_TRUE(watch.is_quiet());

  const std::string made = api.make_config_map("b").version();
  const std::string changed =
      api.patch(std::string{kConfigMaps} + "/b", R"({"data":{"a":"2"}})").version();
  api.remove(std::string{kConfigMaps} + "/b");

  WatchedEvent event = watch.next();
  EXPECT_EQ(event.type, "ADDED");
  EXPECT_EQ(event.version(), made);
  EXPECT_EQ(event.at("kind"), "ConfigMap");  // CT-7
  EXPECT_EQ(event.chunk.kind, FrameKind::kEvent);
  EXPECT_EQ(std::to_string(event.chunk.revision), made);
  event = watch.next();
  EXPECT_EQ(event.type, "MODIFIED");
  EXPECT_EQ(event.version(), changed);
  event = watch.next();
  EXPECT_EQ(event.type, "DELETED");
  EXPECT_EQ(event.version(), std::to_string(api.engine.revision()));
  EXPECT_EQ(event.at("data.a"), "2");
  EXPECT_TRUE(watch.is_quiet());
}

// WT-1
TEST(Watch, ProtobufFramesHaveALengthPrefix) {
  Api api;
  api.make_config_map("a");
  ApiReply reply =
      api.get(std::string{kConfigMaps} + "?watch=1", "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(reply.header("Content-Type"), "application/vnd.kubernetes.protobuf;stream=watch");
  WatchReader watch{std::move(reply.response.stream)};
  const std::optional<BodyChunk> chunk = watch.next_chunk();
  ASSERT_TRUE(chunk);
  const std::string& bytes = chunk->bytes;
  const std::size_t size =
      static_cast<unsigned char>(bytes[2]) * 256U + static_cast<unsigned char>(bytes[3]);
  EXPECT_EQ(size, bytes.size() - 4);
  const std::size_t magic = bytes.find(std::string{"k8s\0", 4});
  ASSERT_NE(magic, std::string::npos);
  EXPECT_EQ(open_envelope(std::string_view{bytes}.substr(magic)).kind, "ConfigMap");
}

// WT-1
TEST(Watch, YamlIsRefused) {
  Api api;
  const ApiReply reply =
      api.get(std::string{kConfigMaps} + "?watch=1", "application/yaml,application/json");
  EXPECT_EQ(reply.status(), 406);
  EXPECT_THAT(reply.text(), HasSubstr("application/json;stream=watch, "
                                      "application/vnd.kubernetes.protobuf;stream=watch"));
}

// WT-3, WT-5
TEST(Watch, WithoutVersionBeginsWithTheCurrentObjects) {
  Api api;
  api.make_config_map("a");
  api.make_config_map("b");
  const std::string state = std::to_string(api.engine.revision());
  for (const char* query : {"?watch=1", "?watch=1&resourceVersion=0",
                            "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"}) {
    WatchReader watch = api.watch(std::string{kConfigMaps} + query + "&allowWatchBookmarks=1");
    EXPECT_EQ(watch.next().name(), "a") << query;
    EXPECT_EQ(watch.next().name(), "b");
    const WatchedEvent mark = watch.next();
    EXPECT_EQ(mark.type, "BOOKMARK");
    EXPECT_EQ(mark.version(), state);
    EXPECT_EQ(mark.at("metadata.annotations['k8s.io/initial-events-end']"), "true");
    EXPECT_EQ(mark.chunk.kind, FrameKind::kInitialEventsEnd);
    EXPECT_TRUE(watch.is_quiet());
  }
  WatchReader silent = api.watch(std::string{kConfigMaps} + "?watch=1");
  silent.next();
  silent.next();
  EXPECT_TRUE(silent.is_quiet());  // no bookmark unless allowed
}

// WT-5, WT-26
TEST(Watch, AnEmptyCollectionIsMarkedAtOnce) {
  Api api;
  WatchReader watch = api.watch(std::string{kConfigMaps} + "?watch=1&allowWatchBookmarks=1");
  const std::string state = std::to_string(api.engine.revision());
  EXPECT_EQ(
      watch.next_chunk()->bytes,
      R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":")" +
          state + R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})" + "\n");
}

// WT-21
TEST(Watch, BookmarksContainFieldsThatAreNeverOmitted) {
  Api api;
  WatchReader watch = api.watch("/api/v1/pods?watch=1&allowWatchBookmarks=1");
  EXPECT_THAT(watch.next_chunk()->bytes, HasSubstr(R"("spec":{"containers":null},"status":{})"));
}

// WT-6
TEST(Watch, InitialEventsCanBeDeclined) {
  Api api;
  api.make_config_map("a");
  WatchReader watch =
      api.watch(std::string{kConfigMaps} +
                "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  EXPECT_TRUE(watch.is_quiet());
  api.make_config_map("b");
  EXPECT_EQ(watch.next().name(), "b");
}

// WT-4, WT-10
TEST(Watch, OptionsMustBeConsistent) {
  Api api;
  for (const char* query :
       {"sendInitialEvents=true", "sendInitialEvents=false",
        "sendInitialEvents=true&resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan",
        "resourceVersionMatch=Exact&resourceVersion=5",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x", "continue=x"}) {
    const ApiReply reply = api.get(std::string{kConfigMaps} + "?watch=1&" + query);
    EXPECT_EQ(reply.status(), 422) << query;
    EXPECT_EQ(reply.at("details.causes[0].field"), "resourceVersionMatch") << query;
  }
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?watch=1&labelSelector=%3D").status(), 400);
  EXPECT_EQ(api.get(std::string{kConfigMaps} + "?watch=1&limit=1").status(), 200);
}

// WT-11, WT-26
TEST(Watch, TooOldVersionsEndWithAnError) {
  Api api;
  for (int i = 0; i < 5; ++i) api.make_config_map("a" + std::to_string(i));
  const std::uint64_t floor = api.engine.revision();
  api.engine.compact();
  WatchReader watch = api.watch(from("1"));
  const std::string expected =
      R"x({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)x"
      R"x("message":"too old resource version: 1 ()x" +
      std::to_string(floor) + R"x()","reason":"Expired","code":410}})x";
  EXPECT_EQ(watch.next_chunk()->bytes, expected + "\n");
  EXPECT_EQ(watch.next().type, "END");
  EXPECT_TRUE(api.watch(from(std::to_string(floor))).is_quiet());

  WatchReader events = api.watch("/api/v1/events?watch=1&resourceVersion=1");
  EXPECT_EQ(events.next().at("message"), "The resourceVersion for the provided watch is too old.");
}

// WT-11, WT-13
TEST(Watch, TheWindowBeginsBeforeItsOldestEvent) {
  Api api;
  std::vector<std::string> versions;
  for (int i = 0; i < 5; ++i) {
    versions.push_back(api.make_config_map("a" + std::to_string(i)).version());
    api.make_pod("p" + std::to_string(i));
  }
  api.engine.shrink_history(2);
  EXPECT_EQ(api.watch(from(versions[2])).next().type, "ERROR");
  EXPECT_EQ(api.watch(from(std::to_string(std::stoull(versions[3]) - 1))).next().name(), "a3");
}

// WT-12
TEST(Watch, FutureVersionsWaitSilentlyUnlessAStateIsRequested) {
  Api api;
  const std::uint64_t now = api.engine.revision();
  WatchReader plain = api.watch(from(std::to_string(now + 2)));
  api.make_config_map("a");
  api.make_config_map("b");
  EXPECT_TRUE(plain.is_quiet());
  api.make_config_map("c");
  EXPECT_EQ(plain.next().name(), "c");

  ApiReply reply{};
  std::jthread asking{[&] {
    reply = api.get(
        std::string{kConfigMaps} +
        "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=" +
        std::to_string(now + 100));
  }};
  ASSERT_TRUE(api.clock.wait_for_sleepers(2));
  api.clock.advance(3s);
  asking.join();
  EXPECT_EQ(reply.status(), 200);
  WatchReader failed{std::move(reply.response.stream)};
  const WatchedEvent error = failed.next();
  EXPECT_EQ(error.type, "ERROR");
  EXPECT_EQ(error.at("code"), "504");
}

// WT-14
TEST(Watch, SlowReadersAreDropped) {
  Api api{{.watch_backlog = 10}};
  WatchReader watch = api.watch(from(std::to_string(api.engine.revision())));
  for (int i = 0; i < 11; ++i) api.make_config_map("a" + std::to_string(i));
  EXPECT_EQ(watch.next().type, "END");

  // Readers that keep up are not dropped, and changes during the initial events do not count.
  WatchReader initial = api.watch(std::string{kConfigMaps} + "?watch=1");
  for (int i = 0; i < 20; ++i) api.make_config_map("b" + std::to_string(i));
  for (int i = 0; i < 31; ++i) EXPECT_EQ(initial.next().type, "ADDED");
  EXPECT_TRUE(initial.is_quiet());
}

// WT-14
TEST(Watch, AWatchOfAnotherNamespaceIsNotSlow) {
  Api api{{.history_size = 50, .watch_backlog = 10}};
  api.post("/api/v1/namespaces", R"({"metadata":{"name":"other"}})");
  WatchReader watch = api.watch("/api/v1/namespaces/other/configmaps?watch=1");
  EXPECT_TRUE(watch.is_quiet());
  for (int i = 0; i < 100; ++i) api.make_config_map("a" + std::to_string(i));
  api.make_config_map("mine", "other");
  EXPECT_EQ(watch.next().name(), "mine");
}

// WT-20
TEST(Watch, EndsAfterItsTimeout) {
  Api api;
  WatchReader watch = api.watch(from(std::to_string(api.engine.revision())) + "&timeoutSeconds=30");
  WatchReader lasting = api.watch(from(std::to_string(api.engine.revision())) + "&timeout=1s");
  ASSERT_TRUE(watch.is_quiet());
  ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  api.clock.advance(30s);
  EXPECT_EQ(watch.next().type, "END");
  ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  api.clock.advance(1700s);
  ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  EXPECT_TRUE(lasting.is_quiet());
  api.clock.advance(1900s);
  EXPECT_EQ(lasting.next().type, "END");
}

// WT-21
TEST(Watch, BookmarksComeOncePerMinuteAndBeforeTheEnd) {
  Api api;
  const std::string query = "&allowWatchBookmarks=1&labelSelector=no&timeoutSeconds=100";
  WatchReader watch = api.watch(from(std::to_string(api.engine.revision())) + query);
  const auto pass = [&](std::chrono::seconds time) {
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
    api.clock.advance(time);
    ASSERT_TRUE(api.clock.wait_for_sleepers(1));
  };
  pass(61s);
  EXPECT_TRUE(watch.is_quiet());  // nothing has changed since the start
  api.make_config_map("filtered");
  pass(1s);
  WatchedEvent mark = watch.next();
  EXPECT_EQ(mark.type, "BOOKMARK");
  EXPECT_EQ(mark.version(), std::to_string(api.engine.revision()));
  EXPECT_EQ(mark.at("metadata.annotations"), "");
  pass(20s);
  EXPECT_TRUE(watch.is_quiet());
  pass(16s);
  EXPECT_EQ(watch.next().type, "BOOKMARK");
}

// WT-22
TEST(Watch, ObjectsEnterAndLeaveASelection) {
  Api api;
  const std::string start = std::to_string(api.engine.revision());
  WatchReader watch = api.watch(from(start) + "&labelSelector=k");
  api.make_config_map("a");
  const std::string path = std::string{kConfigMaps} + "/a";
  api.patch(path, R"({"metadata":{"labels":{"k":"1"}}})");
  api.patch(path, R"({"metadata":{"labels":{"k":"2"}}})");
  const std::string left =
      api.patch(path, R"({"metadata":{"labels":{"k":null,"x":"y"}}})").version();
  api.patch(path, R"({"data":{"a":"7"}})");

  EXPECT_EQ(watch.next().type, "ADDED");
  EXPECT_EQ(watch.next().type, "MODIFIED");
  const WatchedEvent gone = watch.next();
  EXPECT_EQ(gone.type, "DELETED");
  EXPECT_EQ(gone.version(), left);
  EXPECT_EQ(gone.at("metadata.labels.k"), "2");
  EXPECT_TRUE(watch.is_quiet());
}

// WT-22
TEST(Watch, FieldSelectorsWorkAlike) {
  Api api;
  api.make_pod("p");
  WatchReader watch =
      api.watch(std::string{kPods} + "?watch=1&fieldSelector=spec.nodeName%3Dn1&resourceVersion=" +
                std::to_string(api.engine.revision()));
  api.post(std::string{kPods} + "/p/binding",
           R"({"metadata":{"name":"p"},"target":{"name":"n1"}})");
  EXPECT_EQ(watch.next().type, "ADDED");
}

// WT-25
TEST(Watch, TablesHaveColumnsOnlyOnce) {
  Api api;
  api.make_config_map("a");
  api.make_config_map("b");
  WatchReader watch =
      api.watch(std::string{kConfigMaps} + "?watch=1&allowWatchBookmarks=1&includeObject=None",
                "application/json;as=Table;v=v1;g=meta.k8s.io");
  const WatchedEvent first = watch.next();
  EXPECT_EQ(first.at("kind"), "Table");
  EXPECT_NE(first.at("columnDefinitions[0].name"), "");
  EXPECT_EQ(first.at("rows[0].cells[0]"), "a");
  EXPECT_THAT(first.chunk.bytes, HasSubstr("\"object\":null"));
  EXPECT_EQ(watch.next().at("columnDefinitions"), "null");
  const WatchedEvent mark = watch.next();
  EXPECT_EQ(mark.at("rows[0].object.metadata.annotations['k8s.io/initial-events-end']"), "true");
}

// WT-25
TEST(Watch, MetadataAlone) {
  Api api;
  api.make_config_map("a");
  WatchReader watch = api.watch(std::string{kConfigMaps} + "?watch=1",
                                "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
  const WatchedEvent first = watch.next();
  EXPECT_EQ(first.at("kind"), "PartialObjectMetadata");
  EXPECT_EQ(first.name(), "a");
  EXPECT_EQ(first.at("data"), "");
  api.make_config_map("b");
  EXPECT_EQ(watch.next().at("kind"), "PartialObjectMetadata");

  WatchReader list = api.watch(std::string{kConfigMaps} + "?watch=1",
                               "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  EXPECT_EQ(list.next().type, "END");
}

// RQ-2
TEST(Watch, SupportsTheDeprecatedPrefix) {
  Api api;
  api.make_config_map("a");
  api.make_config_map("b");
  WatchReader all = api.watch("/api/v1/watch/namespaces/default/configmaps");
  EXPECT_EQ(all.next().name(), "a");
  EXPECT_EQ(all.next().name(), "b");
  WatchReader one = api.watch("/api/v1/watch/namespaces/default/configmaps/b");
  EXPECT_EQ(one.next().name(), "b");
  EXPECT_TRUE(one.is_quiet());
}

// BK-6
TEST(Watch, TestsCanSendBookmarksAndEndWatches) {
  Api api;
  WatchReader watch =
      api.watch(from(std::to_string(api.engine.revision())) + "&allowWatchBookmarks=1");
  WatchReader pods = api.watch("/api/v1/pods?watch=1");
  EXPECT_EQ(api.engine.watch_count(), 2U);
  api.engine.send_bookmarks();
  EXPECT_EQ(watch.next().type, "BOOKMARK");
  api.engine.end_watches({"", "configmaps"});
  EXPECT_EQ(watch.next().type, "END");
  EXPECT_TRUE(pods.is_quiet());
  watch.close();
  EXPECT_EQ(api.engine.watch_count(), 1U);
}

// The contract of BodyStream: no wake after destruction, even with concurrent writers.
TEST(Watch, ManyReadersAndWritersAtOnce) {
  Api api;
  constexpr int kWriters = 3;
  constexpr int kWrites = 60;
  std::vector<std::jthread> threads;
  std::atomic<int> seen = 0;
  for (int reader = 0; reader < 4; ++reader) {
    threads.emplace_back([&] {
      WatchReader watch = api.watch(from("1"));
      for (int i = 0; i < kWriters * kWrites; ++i) {
        if (watch.next().type == "ADDED") ++seen;
      }
    });
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kWrites; ++i) {
        api.make_config_map("w" + std::to_string(writer) + "-" + std::to_string(i));
        if (i % 10 == 0) api.watch(from("1")).is_quiet();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(seen, 4 * kWriters * kWrites);
}

}  // namespace
}  // namespace kube::testkit::detail
