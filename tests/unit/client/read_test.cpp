// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include "support/fixtures.hpp"

#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using test::api_error;
using test::FakeAnswer;
using test::fixture;
using test::header;
using test::Scripted;
using testing::ElementsAre;
using testing::HasSubstr;

/// A custom resource as kubegen would describe it: without protobuf.
struct Widget {
  meta::v1::ObjectMeta metadata = {};
  static const Type kube_type;
  static const ResourceInfo kube_resource;
};
constexpr Field kWidgetFields[] = {
    field<meta::v1::ObjectMeta>("metadata", offsetof(Widget, metadata))};
constinit const Type Widget::kube_type{.flags = Type::kHasTypeMeta,
                                       .size = sizeof(Widget),
                                       .name = "Widget",
                                       .fields = kWidgetFields,
                                       .api_version = "example.com/v1"};
constinit const ResourceInfo Widget::kube_resource{.group = "example.com",
                                                   .version = "v1",
                                                   .kind = "Widget",
                                                   .plural = "widgets",
                                                   .namespaced = true};

struct Reading : testing::Test {
  void answer(FakeAnswer answer) { scripted.transport->answer(std::move(answer)); }
  std::string sent(const char* name) { return header(scripted.transport->last(), name); }
  Scripted scripted;
};

constexpr const char* kBoth = "application/vnd.kubernetes.protobuf,application/json";

// RC-31
TEST_F(Reading, AsksForProtobufWhereTheTypeHasIt) {
  answer(FakeAnswer::protobuf(encode_protobuf(Pod{.metadata = {.name = "web-0"}})));
  EXPECT_EQ(scripted.client().resource<Pod>("shop").get("web-0")->metadata.name, "web-0");
  EXPECT_EQ(sent("Accept"), kBoth);
  EXPECT_EQ(sent("Content-Type"), "");
}

// RC-30
TEST_F(Reading, AsksForJsonWhereItHasNot) {
  answer(FakeAnswer::json(
      R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"}})"));
  EXPECT_EQ(scripted.client().resource<Widget>("shop").get("w")->metadata.name, "w");
  EXPECT_EQ(sent("Accept"), "application/json, */*");
}

// RC-30, RC-31
TEST_F(Reading, UsesTheContentTypesOfTheConfiguration) {
  struct Case {
    std::string content_type, accept, expected_type, expected_accept;
  };
  for (const Case& one : std::vector<Case>{
           {"application/json", "", "application/json", "application/json, */*"},
           {"", "application/yaml,application/json", "application/json",
            "application/yaml,application/json"},
           {"application/vnd.kubernetes.protobuf", "", "application/vnd.kubernetes.protobuf",
            "application/vnd.kubernetes.protobuf, */*"},
           // RC-35
           {"application/cbor", "application/cbor,application/json;q=0.9", "application/json",
            "application/json,application/json;q=0.9"},
       }) {
    scripted.config.content_type = one.content_type;
    scripted.config.accept = one.accept;
    answer(FakeAnswer::json(test::pod_json("a"), 201));
    scripted.client().resource<Pod>("shop").create({});
    EXPECT_EQ(sent("Accept"), one.expected_accept);
    EXPECT_EQ(sent("Content-Type"), one.expected_type);
  }
  scripted.config.content_type = "application/yaml";
  EXPECT_THROW(scripted.client(), ConfigError);
}

// RC-32
TEST_F(Reading, DecodesByContentTypeOfTheResponse) {
  const auto pods = scripted.client().resource<Pod>("shop");
  const Pod pod{.metadata = {.name = "web-0"}};
  answer(FakeAnswer::text(encode_json(pod), 200, "Application/JSON; charset=utf-8"));
  EXPECT_EQ(pods.get("web-0")->metadata.name, "web-0");
  answer({.headers = {}, .chunks = {encode_protobuf(pod)}});
  EXPECT_EQ(pods.get("web-0")->metadata.name, "web-0") << "the requested format";
  answer(FakeAnswer::text("any: thing", 200, "application/yaml"));
  EXPECT_EQ(scripted.client().raw().get("/x"), "any: thing");
}

// RC-31: an aggregated API server without protobuf.
TEST_F(Reading, FallsBackToJsonForGood) {
  const auto pods = scripted.client().resource<Pod>("shop");
  answer(FakeAnswer::text("only JSON", 406));
  answer(FakeAnswer::json(test::pod_json("a")));
  EXPECT_EQ(pods.get("a")->metadata.name, "a");
  EXPECT_EQ(sent("Accept"), "application/json, */*");
  answer(FakeAnswer::json(test::pod_json("a"), 201));
  pods.create({.metadata = {.name = "a"}});
  EXPECT_EQ(sent("Content-Type"), "application/json");
  EXPECT_EQ(scripted.transport->requests().size(), 3U);
}

TEST_F(Reading, FallsBackToJsonForBodiesToo) {
  const auto pods = scripted.client().resource<Pod>("shop");
  answer(FakeAnswer::text("only JSON", 415));
  answer(FakeAnswer::json(test::pod_json("a"), 201));
  EXPECT_EQ(pods.create({.metadata = {.name = "a"}})->metadata.name, "a");
  const auto requests = scripted.transport->requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_TRUE(requests[0].body.starts_with("k8s"));
  EXPECT_TRUE(requests[1].body.starts_with("{"));
  // A second refusal is an error, and so is that of a patch, which was not protobuf.
  answer(FakeAnswer::text("not even JSON", 415));
  EXPECT_THROW(pods.create({.metadata = {.name = "a"}}), ApiError);
  Scripted other;
  other.transport->answer(FakeAnswer::text("no strategic merge here", 415));
  EXPECT_THROW(other.client().resource<Pod>("s").patch("a", PatchType::kStrategicMerge, "{}"),
               ApiError);
  EXPECT_EQ(other.transport->requests().size(), 1U);
}

// RC-33
TEST_F(Reading, OfMetadataAsksForNothingElse) {
  const std::string wanted =
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  const std::string wanted_list =
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  const auto pods = scripted.client().metadata({"", "v1", "pods"}, "shop");

  answer(FakeAnswer::json(fixture("pods_partial.json")));
  const auto listed = pods.list();
  EXPECT_EQ(sent("Accept"), wanted_list);
  EXPECT_EQ(listed.metadata.resource_version, "248");
  EXPECT_EQ(listed.items.front()->metadata.namespace_, "shop");

  answer(FakeAnswer::protobuf(
      encode_protobuf(meta::v1::PartialObjectMetadata{.metadata = {.name = "a"}})));
  EXPECT_EQ(pods.get("a")->metadata.name, "a");
  EXPECT_EQ(sent("Accept"), wanted);

  answer({});
  (void)pods.watch();
  EXPECT_EQ(sent("Accept"), wanted);

  answer(FakeAnswer::json(R"({"kind":"Status","apiVersion":"v1","status":"Success"})"));
  pods.delete_("a");
  EXPECT_EQ(sent("Content-Type"), "application/json");
}

// RC-33
TEST_F(Reading, OfMetadataTakesItFromWholeObjects) {
  const auto pods = scripted.client().metadata({"", "v1", "pods"});
  answer(FakeAnswer::json(fixture("core_v1_pods.json")));
  const auto from_json = pods.list();
  answer(FakeAnswer::protobuf(fixture("core_v1_pods.pb")));
  const auto from_protobuf = pods.list();
  ASSERT_FALSE(from_json.items.empty());
  ASSERT_EQ(from_json.items.size(), from_protobuf.items.size());
  for (std::size_t i = 0; i < from_json.items.size(); ++i) {
    EXPECT_FALSE(from_json.items[i]->metadata.name.empty());
    EXPECT_EQ(from_json.items[i]->metadata.uid, from_protobuf.items[i]->metadata.uid);
  }
  answer(FakeAnswer::json(test::pod_json("a")));
  EXPECT_EQ(scripted.client().metadata({"", "v1", "pods"}, "s").get("a")->metadata.name, "a");
}

// RC-34
TEST_F(Reading, OfTablesAsksForThem) {
  answer(FakeAnswer::json(fixture("pods_table.json")));
  const Ref<meta::v1::Table> table =
      scripted.client().resource<Pod>("shop").table({.limit = 5}, TableObjects::kNone);
  EXPECT_EQ(sent("Accept"), "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_THAT(scripted.transport->last().target, HasSubstr("?includeObject=None&limit=5"));
  EXPECT_EQ(table->column_definitions.front().name, "Name");
}

// RC-36
TEST_F(Reading, OfUntypedListsSetsKindAndVersionOfEachItem) {
  const auto namespaces = scripted.client().dynamic({"", "v1", "namespaces"});
  answer(FakeAnswer::json(fixture("core_v1_namespaces.json")));
  const Listed<Value> listed = namespaces.list();
  EXPECT_EQ(sent("Accept"), "application/json");
  ASSERT_GT(listed.items.size(), 1U);
  for (const Ref<Value>& item : listed.items) {
    EXPECT_EQ(item->get_string("kind"), "Namespace");
    EXPECT_EQ(item->get_string("apiVersion"), "v1");
    EXPECT_TRUE(item->get_string("metadata.name").has_value());
  }
}

// RC-36
TEST_F(Reading, OfUntypedListsKeepsKindsOfItems) {
  const auto foos = scripted.client().dynamic({"x", "v1", "foos"});
  answer(FakeAnswer::json(fixture("samplecontroller.k8s.io_v1alpha1_foos.json")));
  for (const Ref<Value>& item : foos.list().items) EXPECT_EQ(item->get_string("kind"), "Foo");

  answer(FakeAnswer::json(R"({"kind":"ThingList","apiVersion":"x/v1","items":[{"a":1},{},)"
                          R"({"kind":"Other","apiVersion":"y/v2"},{"b":2}]})"));
  const auto mixed = foos.list().items;
  std::vector<std::string> kinds;
  for (const Ref<Value>& item : mixed) {
    kinds.push_back(std::string{*item->get_string("apiVersion")} + ' ' +
                    std::string{*item->get_string("kind")});
  }
  EXPECT_THAT(kinds, ElementsAre("x/v1 Thing", "x/v1 Thing", "y/v2 Other", "x/v1 Thing"));
}

// RC-36: a server may send the kind after the items.
TEST_F(Reading, OfUntypedListsWaitsForTheKind) {
  FakeAnswer late = FakeAnswer::json("");
  late.chunks = {R"({"items":[{"a":1},)", R"({"kind":"B","apiVersion":"v9"},{"a":2}],"apiVersi)",
                 R"(on":"v1","kind":"AList"})"};
  answer(std::move(late));
  const auto items = scripted.client().dynamic({"", "v1", "as"}).list().items;
  ASSERT_EQ(items.size(), 3U);
  for (const Ref<Value>& item : items) {
    EXPECT_EQ(item->get_string("kind"), item->find("a") == nullptr ? "B" : "A");
  }
}

// RC-37: the codec's format of times is used on the wire.
TEST_F(Reading, KeepsTheFormOfTimes) {
  core::v1::Event event{.metadata = {.name = "e", .creation_timestamp = Time::from_unix(0)},
                        .event_time = MicroTime::parse("2026-01-01T00:00:00.5Z")};
  scripted.config.content_type = "application/json";
  answer(FakeAnswer::json(R"({"kind":"Event","apiVersion":"v1"})", 201));
  scripted.client().resource<core::v1::Event>("shop").create(event);
  EXPECT_THAT(scripted.transport->last().body,
              testing::AllOf(HasSubstr(R"("creationTimestamp":"1970-01-01T00:00:00Z")"),
                             HasSubstr(R"("eventTime":"2026-01-01T00:00:00.500000Z")"),
                             HasSubstr(R"("firstTimestamp":null)")));
}

TEST_F(Reading, OfListsDeliversItemsWhileTheyArrive) {
  for (const char* file : {"core_v1_namespaces.json", "core_v1_namespaces.pb"}) {
    const std::string body = fixture(file);
    FakeAnswer pieces =
        std::string_view{file}.ends_with("pb") ? FakeAnswer::protobuf("") : FakeAnswer::json("");
    pieces.chunks.clear();
    for (std::size_t at = 0; at < body.size(); at += 100)
      pieces.chunks.push_back(body.substr(at, 100));
    answer(std::move(pieces));
    const int before = scripted.transport->totals().reads;
    std::vector<int> reads;
    const ListMetadata head = scripted.client().resource<core::v1::Namespace>().list_page(
        {}, [&](const Ref<core::v1::Namespace>& item) {
          EXPECT_FALSE(item->metadata.name.empty());
          reads.push_back(scripted.transport->totals().reads - before);
        });
    EXPECT_FALSE(head.resource_version.empty());
    ASSERT_GT(reads.size(), 2U);
    EXPECT_LT(reads.front(), reads.back());
  }
}

TEST_F(Reading, SharesContentThroughThePoolThatItIsGiven) {
  const auto pool = std::make_shared<Pool>();
  const auto pods = scripted.client().resource<Pod>().with_decoding(
      {.pool = pool, .projection = fields<Pod>("metadata.name")});
  answer(FakeAnswer::protobuf(fixture("core_v1_pods.pb")));
  const auto listed = pods.list();
  EXPECT_FALSE(listed.items.front()->metadata.name.empty());
  EXPECT_TRUE(listed.items.front()->metadata.namespace_.empty());
  EXPECT_TRUE(listed.items.front()->spec.containers.empty());
}

TEST_F(Reading, EndsWhenTheCallerThrows) {
  answer(FakeAnswer::json(fixture("core_v1_pods.json")));
  EXPECT_THROW(scripted.client().resource<Pod>().list_page(
                   {}, [](const Ref<Pod>&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
  EXPECT_EQ(scripted.transport->totals().open, 0);
}

struct Pages : Reading {
  static std::string page(const std::string& name, const std::string& token,
                          const std::string& version) {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
           R"(","continue":")" + token +
           R"(","remainingItemCount":9},"items":[{"metadata":{"name":")" + name + R"("}}]})";
  }
  std::vector<std::string> targets() const {
    std::vector<std::string> result;
    for (const HttpRequest& request : scripted.transport->requests()) {
      result.push_back(request.target.substr(request.target.find('?')));
    }
    return result;
  }
};

TEST_F(Pages, AreFollowedToTheLast) {
  answer(FakeAnswer::json(page("a", "t1", "5")));
  answer(FakeAnswer::json(page("b", "t2", "5")));
  answer(FakeAnswer::json(page("c", "", "5")));
  const Listed<Pod> all = scripted.client().resource<Pod>("shop").list_all(
      {.label_selector = "x", .resource_version = "3"});
  EXPECT_EQ(all.items.size(), 3U);
  EXPECT_EQ(all.metadata.resource_version, "5");
  EXPECT_EQ(all.metadata.continue_token, "");
  EXPECT_EQ(all.metadata.remaining_item_count, std::nullopt);
  EXPECT_THAT(targets(), ElementsAre("?labelSelector=x&limit=500&resourceVersion=3",
                                     "?continue=t1&labelSelector=x&limit=500",
                                     "?continue=t2&labelSelector=x&limit=500"));
}

TEST_F(Pages, ThatExpireAreReplacedByOneFullList) {
  answer(FakeAnswer::json(page("a", "t1", "5")));
  answer(FakeAnswer::json(test::status_json(410, "Expired"), 410));
  answer(FakeAnswer::json(page("b", "", "9")));
  const Listed<Pod> all =
      scripted.client().resource<Pod>("shop").list_all({.resource_version = "3", .limit = 7});
  ASSERT_EQ(all.items.size(), 1U) << "items before the restart are dropped";
  EXPECT_EQ(all.items.front()->metadata.name, "b");
  EXPECT_EQ(all.metadata.resource_version, "9");
  EXPECT_THAT(targets(), ElementsAre("?limit=7&resourceVersion=3", "?continue=t1&limit=7",
                                     "?resourceVersion=3"));
}

TEST_F(Pages, ThatExpireAreAnErrorWithoutRestart) {
  const auto pods = scripted.client().resource<Pod>("shop");
  std::vector<std::string> names;
  const auto note = [&](const Ref<Pod>& pod) { names.push_back(pod->metadata.name.str()); };

  answer(FakeAnswer::json(page("a", "t1", "5")));
  answer(FakeAnswer::json(test::status_json(410, "Expired"), 410));
  EXPECT_TRUE(is_resource_expired(api_error([&] { pods.list_each({}, note); })));
  EXPECT_THAT(names, ElementsAre("a"));

  // A failure of the first page, or another error, never causes a full list.
  answer(FakeAnswer::json(test::status_json(410, "Expired"), 410));
  EXPECT_TRUE(is_resource_expired(api_error([&] { (void)pods.list_all(); })));
  answer(FakeAnswer::json(page("a", "t1", "5")));
  answer(FakeAnswer::json(test::status_json(410, "Gone"), 410));
  EXPECT_TRUE(is_gone(api_error([&] { (void)pods.list_all(); })));
}

TEST_F(Reading, OfALogIsAStream) {
  FakeAnswer log = FakeAnswer::text("", 200);
  log.chunks = {"one\ntw", "o\n\nthree", std::string(1 << 20, 'x') + "\nlast"};
  answer(std::move(log));
  LogStream lines = scripted.client().resource<Pod>("shop").logs(
      "web-0", {.container = "main",
                .follow = true,
                .previous = true,
                .since = std::chrono::seconds{60},
                .since_time = Time::from_unix(0).time_point(),
                .timestamps = true,
                .tail_lines = 10,
                .limit_bytes = 99,
                .stream = "Stderr"});
  // RC-55
  EXPECT_EQ(scripted.transport->last().target,
            "/api/v1/namespaces/shop/pods/web-0/"
            "log?container=main&follow=true&limitBytes=99&previous=true"
            "&sinceSeconds=60&sinceTime=1970-01-01T00%3A00%3A00Z&stream=Stderr&tailLines=10"
            "&timestamps=true");
  EXPECT_EQ(lines.next_line(), "one");
  EXPECT_EQ(lines.next_line(), "two");
  EXPECT_EQ(lines.next_line(), "");
  EXPECT_EQ(lines.next_line()->size(), std::size_t{1} << 20);
  EXPECT_EQ(lines.next_line(), "xxxxx");
  EXPECT_EQ(lines.read(), "last");
  EXPECT_EQ(lines.next_line(), std::nullopt);
}

}  // namespace
}  // namespace kube
