// SPDX-License-Identifier: Apache-2.0
// Lists and watches that arrive in chunks.
#include "support/watch_reader.hpp"
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/list_reader.hpp>
#include <kube/codec/protobuf.hpp>

#include "support/fixtures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;

template <typename T>
struct Listed {
  std::vector<std::string> items;
  ListMetadata head;
};

template <typename T>
Listed<T> read_list(Format format, std::string_view body, std::size_t chunk,
                    DecodeLimits limits = {}) {
  ListReader<T> reader{format, {.limits = limits}};
  Listed<T> listed;
  for (std::size_t at = 0; at < body.size(); at += chunk) {
    reader.feed(body.substr(at, chunk),
                [&](const Ref<T>& item) { listed.items.push_back(encode_json(*item)); });
  }
  listed.head = reader.finish();
  return listed;
}

template <typename T>
std::vector<std::string> read_watch(Format format, std::string_view stream, std::size_t chunk,
                                    DecodeLimits limits = {}) {
  test::WatchReader<T> reader{format, {.limits = limits}};
  std::vector<std::string> events;
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    reader.feed(stream.substr(at, chunk), [&](const test::ReadEvent<T>& event) {
      events.push_back(std::string{to_string(event.type)} + ' ' +
                       (event.object ? encode_json(*event.object) : std::string{event.status}));
    });
  }
  reader.finish();
  return events;
}

std::string problem_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const CodecError& error) {
    return error.problem();
  }
  return "nothing was thrown";
}

TEST(ListReader, GivesTheSameItemsHoweverTheBodyIsCut) {
  for (const auto& [format, file] : {std::pair{Format::kJson, "core_v1_configmaps.json"},
                                     std::pair{Format::kProtobuf, "core_v1_configmaps.pb"}}) {
    const std::string body = test::fixture(file);
    const Listed<ConfigMap> whole = read_list<ConfigMap>(format, body, body.size());
    ASSERT_EQ(whole.items.size(), 3U);
    EXPECT_EQ(whole.head.kind, "ConfigMapList");
    EXPECT_FALSE(whole.head.resource_version.empty());

    for (std::size_t chunk = 1; chunk < 200; ++chunk) {
      const Listed<ConfigMap> cut = read_list<ConfigMap>(format, body, chunk);
      ASSERT_EQ(cut.items, whole.items) << chunk;
      ASSERT_EQ(cut.head.resource_version, whole.head.resource_version);
    }
  }
}

TEST(ListReader, YieldsAnItemWithItsLastByte) {
  const std::string body = test::fixture("core_v1_configmaps.json");
  const std::size_t first_item = body.find("{\"metadata\":{\"name\"");
  ListReader<ConfigMap> reader{Format::kJson};
  std::size_t items = 0;
  std::size_t at = 0;
  for (; items == 0; ++at) {
    reader.feed(body.substr(at, 1), [&](const Ref<ConfigMap>&) { ++items; });
  }

  EXPECT_EQ(body[at - 1], '}');
  EXPECT_NO_THROW(
      static_cast<void>(decode_json<ConfigMap>(body.substr(first_item, at - first_item))));
}

TEST(ListReader, ReadsMetadataAfterTheItems) {
  const auto listed = read_list<ConfigMap>(
      Format::kJson,
      R"({"apiVersion":"v1","items":[ {"metadata":{"name":"a"}} , {"metadata":{"name":"b"}} ],)"
      R"("kind":"ConfigMapList","metadata":{"continue":"next","remainingItemCount":7,"resourceVersion":"5"}})",
      3);

  EXPECT_EQ(listed.items.size(), 2U);
  EXPECT_EQ(listed.head.continue_token, "next");
  EXPECT_EQ(listed.head.remaining_item_count, 7);
  EXPECT_EQ(listed.head.resource_version, "5");
}

TEST(ListReader, TreatsMissingItemsAsAnEmptyList) {
  EXPECT_TRUE(read_list<ConfigMap>(Format::kJson,
                                   R"({"kind":"ConfigMapList","apiVersion":"v1","items":null})", 2)
                  .items.empty());
  EXPECT_TRUE(read_list<ConfigMap>(Format::kJson,
                                   R"({"kind":"ConfigMapList","apiVersion":"v1","items":[ ]})", 2)
                  .items.empty());
  EXPECT_TRUE(
      read_list<Pod>(Format::kProtobuf, encode_protobuf(core::v1::PodList{}), 2).items.empty());
}

TEST(ListReader, RejectsAnythingButAListOfItsKind) {
  EXPECT_EQ(problem_of([] {
              read_list<Pod>(Format::kJson, test::fixture("core_v1_configmaps.json"), 50);
            }),
            "expected v1 PodList, found v1 ConfigMapList");
  EXPECT_EQ(problem_of([] { read_list<Pod>(Format::kJson, "[]", 1); }), "expected a list object");
  EXPECT_EQ(problem_of([] { read_list<Pod>(Format::kJson, R"({"items":{}})", 1); }),
            "items: expected list");
  EXPECT_EQ(problem_of([] { read_list<Pod>(Format::kJson, R"({"items":[]} x)", 1); }),
            "unexpected data after the end of the list");
  EXPECT_EQ(problem_of([] { read_list<Pod>(Format::kProtobuf, "<html>", 1); }),
            "not a Kubernetes protobuf object: the magic bytes are missing");
}

TEST(ListReader, RefusesABodyThatEndsEarly) {
  for (const auto& [format, file] : {std::pair{Format::kJson, "core_v1_configmaps.json"},
                                     std::pair{Format::kProtobuf, "core_v1_configmaps.pb"}}) {
    const std::string body = test::fixture(file);
    // The bytes after the list itself (a newline; two empty fields) are optional.
    for (std::size_t size = 0; size + 5 < body.size(); ++size) {
      EXPECT_THROW(read_list<ConfigMap>(format, body.substr(0, size), 64), CodecError) << size;
    }
  }
}

TEST(ListReader, RefusesAnItemBeyondTheLimit) {
  EXPECT_EQ(problem_of([] {
              read_list<ConfigMap>(Format::kJson, test::fixture("core_v1_configmaps.json"), 100,
                                   {.max_frame = 300});
            }),
            "object larger than the limit of 300 bytes");
  EXPECT_EQ(problem_of([] {
              read_list<ConfigMap>(Format::kProtobuf, test::fixture("core_v1_configmaps.pb"), 100,
                                   {.max_frame = 300});
            }),
            "object larger than the limit of 300 bytes");
}

TEST(WatchReader, GivesTheSameEventsHoweverTheStreamIsCut) {
  for (const auto& [format, file] : {std::pair{Format::kJson, "watch_pods.json"},
                                     std::pair{Format::kProtobuf, "watch_pods.pb"}}) {
    const std::string stream = test::fixture(file);
    const auto whole = read_watch<Pod>(format, stream, stream.size());
    ASSERT_FALSE(whole.empty());
    EXPECT_TRUE(whole.front().starts_with("ADDED "));
    EXPECT_TRUE(whole.back().starts_with("BOOKMARK ")) << whole.back();

    for (std::size_t chunk = 1; chunk < 120; ++chunk) {
      ASSERT_EQ(read_watch<Pod>(format, stream, chunk), whole) << chunk;
    }
  }
}

TEST(WatchReader, ReadsTheSameEventsInBothFormats) {
  EXPECT_EQ(
      read_watch<ConfigMap>(Format::kJson, test::fixture("watch_configmaps.json"), 70).size(),
      read_watch<ConfigMap>(Format::kProtobuf, test::fixture("watch_configmaps.pb"), 70).size());
}

TEST(WatchReader, PassesOnTheStatusOfAnError) {
  const auto events = read_watch<Pod>(
      Format::kJson, R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})",
      9);

  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], R"(ERROR {"kind":"Status","code":410,"reason":"Expired"})");
}

TEST(WatchReader, ReadsEventsInAnyNotation) {
  const auto events = read_watch<Pod>(
      Format::kJson,
      "{ \"object\" : {\"metadata\":{\"name\":\"a\"}}, \"other\":[1], \"type\" : \"MODIFIED\" }"
      "\r\n\n{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"b\"}}}",
      11);

  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(events[0].starts_with("MODIFIED ") && events[0].find("\"a\"") != std::string::npos);
  EXPECT_TRUE(events[1].starts_with("DELETED "));
}

TEST(WatchReader, RejectsAnythingButAnEvent) {
  const auto read = [](std::string_view stream) {
    return problem_of([&] { read_watch<Pod>(Format::kJson, stream, 5); });
  };
  EXPECT_EQ(read("<html>"), "expected a watch event");
  EXPECT_EQ(read(R"({"type":"NEWS","object":{}})"), "unknown event type \"NEWS\"");
  EXPECT_EQ(read(R"({"type":"ADDED"})"), "watch event without type or object");
  EXPECT_EQ(read(R"({"type":"ADDED","object":{}} {"type":)"), "the stream ended within an event");
  EXPECT_EQ(read(R"({"type":"ADDED","object":{"metadata":{}},"x":1})"),
            "expected end of the document, found ','");
}

TEST(WatchReader, RefusesAFrameBeyondTheLimitBeforeItArrives) {
  EXPECT_EQ(problem_of([] {
              read_watch<Pod>(Format::kProtobuf, std::string_view{"\x7f\xff\xff\xff", 4}, 1);
            }),
            "event larger than the limit of 33554432 bytes");
  EXPECT_EQ(problem_of([] {
              read_watch<Pod>(Format::kJson, R"({"type":"ADDED","object":{"metadata":{}}})", 4,
                              {.max_frame = 20});
            }),
            "event larger than the limit of 20 bytes");
}

TEST(WatchReader, RefusesAFrameThatEndsEarly) {
  const std::string stream = test::fixture("watch_configmaps.pb");
  EXPECT_EQ(problem_of([&] {
              read_watch<ConfigMap>(Format::kProtobuf, stream.substr(0, stream.size() - 1), 7);
            }),
            "the stream ended within an event");
}

}  // namespace
}  // namespace kube
