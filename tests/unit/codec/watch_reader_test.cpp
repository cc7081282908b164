// SPDX-License-Identifier: Apache-2.0
#include "support/watch_reader.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/codec/envelope.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"
#include "unit/codec/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;
using test::error_of;
namespace wire = test::wire;

using Cut = std::function<std::size_t(std::size_t left)>;

Cut chunks_of(std::size_t size) {
  return [size](std::size_t) { return size; };
}

/// Formats each event as "ADDED {...}".
template <typename T>
std::vector<std::string> read(Format format, std::string_view stream, const Cut& cut,
                              DecoderOptions options = {}) {
  test::WatchReader<T> reader{format, std::move(options)};
  std::vector<std::string> events;
  while (!stream.empty()) {
    const std::size_t size = std::min(std::max<std::size_t>(cut(stream.size()), 1), stream.size());
    const std::vector<char> chunk(stream.begin(),
                                  stream.begin() + static_cast<std::ptrdiff_t>(size));
    reader.feed({chunk.data(), chunk.size()}, [&](test::ReadEvent<T> event) {
      EXPECT_EQ(event.type == EventType::kError, event.object == nullptr);
      EXPECT_EQ(event.type == EventType::kError, !event.status.empty());
      events.push_back(std::string{to_string(event.type)} + ' ' +
                       (event.object ? encode_json(*event.object) : std::string{event.status}));
    });
    stream.remove_prefix(size);
  }
  reader.finish();
  return events;
}

std::string frame(std::string_view event) {
  std::string out(4, '\0');
  for (unsigned i = 0; i < 4; ++i) out[3 - i] = static_cast<char>(event.size() >> (8 * i));
  return out + std::string{event};
}

std::string pod_object(std::string_view name) {
  Pod pod;
  pod.metadata.name = name;
  return encode_protobuf(pod);
}

std::string protobuf_event(std::string_view type, std::string_view object) {
  return frame(wire::bytes(1, type) + wire::bytes(2, wire::bytes(1, object)));
}

std::string json_event(std::string_view type, std::string_view name) {
  return R"({"type":")" + std::string{type} + R"(","object":{"metadata":{"name":")" +
         std::string{name} + "\"}}}\n";
}

template <typename T>
void expect_same_however_cut(Format format, const std::string& stream) {
  const auto whole = read<T>(format, stream, chunks_of(stream.size()));
  ASSERT_FALSE(whole.empty());
  for (std::size_t size = 1; size <= 64; ++size) {
    ASSERT_EQ(read<T>(format, stream, chunks_of(size), {.pool = std::make_shared<Pool>()}), whole)
        << size;
  }
  std::mt19937 random{12};
  for (int round = 0; round < 100; ++round) {
    const Cut randomly = [&](std::size_t left) {
      return round % 2 == 0 ? random() % 300 : random() % (left + 1);
    };
    ASSERT_EQ(read<T>(format, stream, randomly), whole);
  }
}

TEST(WatchReader, GivesTheSameEventsInChunksOfAnySize) {
  expect_same_however_cut<Pod>(Format::kJson, test::fixture("watch_pods.json"));
  expect_same_however_cut<Pod>(Format::kProtobuf, test::fixture("watch_pods.pb"));
  expect_same_however_cut<ConfigMap>(Format::kJson, test::fixture("watch_configmaps.json"));
  expect_same_however_cut<ConfigMap>(Format::kProtobuf, test::fixture("watch_configmaps.pb"));
  expect_same_however_cut<Value>(Format::kJson, test::fixture("watch_foos.json"));
}

TEST(WatchReader, GivesTheSameEventsForEveryPlaceToCutOnce) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string stream =
        test::fixture(format == Format::kJson ? "watch_pods.json" : "watch_pods.pb");
    const auto whole = read<Pod>(format, stream, chunks_of(stream.size()));
    for (std::size_t at = 1; at < stream.size(); ++at) {
      std::size_t next = at;
      ASSERT_EQ(
          read<Pod>(format, stream, [&](std::size_t left) { return std::exchange(next, left); }),
          whole)
          << at;
    }
  }
}

TEST(WatchReader, ReadsTheSameFromBothFormats) {
  EXPECT_EQ(read<Pod>(Format::kJson, test::fixture("watch_pods.json"), chunks_of(100)),
            read<Pod>(Format::kProtobuf, test::fixture("watch_pods.pb"), chunks_of(100)));
  EXPECT_EQ(
      read<ConfigMap>(Format::kJson, test::fixture("watch_configmaps.json"), chunks_of(100)),
      read<ConfigMap>(Format::kProtobuf, test::fixture("watch_configmaps.pb"), chunks_of(100)));
}

TEST(WatchReader, KnowsEveryTypeOfEvent) {
  std::string json;
  std::string protobuf;
  for (const std::string_view type : {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}) {
    json += json_event(type, "p");
    protobuf += protobuf_event(type, pod_object("p"));
  }
  for (const auto& events : {read<Pod>(Format::kJson, json, chunks_of(1000)),
                             read<Pod>(Format::kProtobuf, protobuf, chunks_of(1000))}) {
    ASSERT_EQ(events.size(), 4U);
    EXPECT_TRUE(events[0].starts_with("ADDED {"));
    EXPECT_TRUE(events[1].starts_with("MODIFIED {"));
    EXPECT_TRUE(events[2].starts_with("DELETED {"));
    EXPECT_TRUE(events[3].starts_with("BOOKMARK {"));
  }
}

TEST(WatchReader, GivesEveryFrameOfAChunkAtOnce) {
  std::string json;
  std::string protobuf;
  for (int i = 0; i < 50; ++i) {
    json += json_event("ADDED", "p-" + std::to_string(i));
    protobuf += protobuf_event("ADDED", pod_object("p-" + std::to_string(i)));
  }
  test::WatchReader<Pod> json_reader{Format::kJson};
  test::WatchReader<Pod> protobuf_reader{Format::kProtobuf};
  int seen = 0;
  const auto count = [&](const test::ReadEvent<Pod>& event) {
    EXPECT_EQ(event.object->metadata.name, "p-" + std::to_string(seen % 50));
    ++seen;
  };

  json_reader.feed(json, count);
  EXPECT_EQ(seen, 50);
  protobuf_reader.feed(protobuf, count);
  EXPECT_EQ(seen, 100);
}

TEST(WatchReader, GivesAnEventWithItsLastByte) {
  const std::string json = R"({"type":"ADDED","object":{"metadata":{"name":"p"}}})";
  const std::string protobuf = protobuf_event("ADDED", pod_object("p"));
  for (const auto& [format, bytes] :
       {std::pair{Format::kJson, json}, std::pair{Format::kProtobuf, protobuf}}) {
    test::WatchReader<Pod> reader{format};
    int seen = 0;
    const auto count = [&](const test::ReadEvent<Pod>&) { ++seen; };

    reader.feed(std::string_view{bytes}.substr(0, bytes.size() - 1), count);
    EXPECT_EQ(seen, 0);
    EXPECT_THROW(reader.finish(), CodecError);
    reader.feed(std::string_view{bytes}.substr(bytes.size() - 1), count);
    EXPECT_EQ(seen, 1);
    EXPECT_NO_THROW(reader.finish());
  }
}

TEST(WatchReader, PassesOnTheStatusOfAnError) {
  const std::string status = test::fixture("notfound.pb");
  const std::string json_status = R"({"kind":"Status","apiVersion":"v1","code":410})";
  for (std::size_t size = 1; size < 40; ++size) {
    EXPECT_EQ(read<Pod>(Format::kProtobuf, protobuf_event("ERROR", status), chunks_of(size)),
              std::vector<std::string>{"ERROR " + status});
    EXPECT_EQ(read<Pod>(Format::kJson, R"({"type":"ERROR","object":)" + json_status + "}",
                        chunks_of(size)),
              std::vector<std::string>{"ERROR " + json_status});
    EXPECT_EQ(read<Pod>(Format::kJson, R"({"object":)" + json_status + R"(,"type":"ERROR"})",
                        chunks_of(size)),
              std::vector<std::string>{"ERROR " + json_status});
  }
}

TEST(WatchReader, GoesOnAfterAnErrorEvent) {
  const auto events = read<Pod>(
      Format::kJson, R"({"type":"ERROR","object":{}})" + json_event("ADDED", "p"), chunks_of(5));

  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0], "ERROR {}");
  EXPECT_TRUE(events[1].starts_with("ADDED "));
}

TEST(WatchReader, IsNotMisledByTextInObjects) {
  const std::string stream =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","annotations":{"x":"}{\"][\\"}}}})"
      "\n"
      R"({"type":"ADDED","object":{"metadata":{"name":"\"}}}"}}})";
  for (std::size_t size = 1; size < 60; ++size) {
    const auto events = read<Pod>(Format::kJson, stream, chunks_of(size));

    ASSERT_EQ(events.size(), 2U) << size;
    EXPECT_TRUE(events[0].find(R"("x":"}{\"][\\")") != std::string::npos) << events[0];
    EXPECT_TRUE(events[1].find(R"("name":"\"}}}")") != std::string::npos) << events[1];
  }
}

TEST(WatchReader, ReadsProtobufEventsHoweverTheyAreWritten) {
  const std::string object = pod_object("p");
  const std::string unknown = wire::integer(9, 5) + wire::bytes(8, "?");
  const auto expected =
      read<Pod>(Format::kProtobuf, protobuf_event("ADDED", object), chunks_of(99));

  for (const std::string& event :
       {wire::bytes(2, wire::bytes(1, object)) + wire::bytes(1, "ADDED"),
        unknown + wire::bytes(1, "ADDED") + unknown +
            wire::bytes(2, unknown + wire::bytes(1, object) + unknown) + unknown,
        wire::bytes(1, "DELETED") + wire::bytes(1, "ADDED") +
            wire::bytes(2, wire::bytes(1, pod_object("first")) + wire::bytes(1, object))}) {
    EXPECT_EQ(read<Pod>(Format::kProtobuf, frame(event), chunks_of(3)), expected);
  }
}

TEST(WatchReader, RefusesGarbageInJson) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    for (const std::string_view stream :
         {"<html>",
          "[]",
          "null",
          "5",
          "{}",
          R"({"type":"ADDED"})",
          R"({"object":{}})",
          R"({"type":5,"object":{}})",
          R"({"type":"ADDED","object":})",
          R"({"type":"ADDED","object":{}]})",
          R"({"type":"ADDED","object":{}])",
          R"({"type":"ADDED","object":[]})",
          R"({"type":"ADDED","object":null})",
          R"({"type":"ADDED" "object":{}})",
          R"({"type":"ADDED","object":{},})",
          R"({"type":"added","object":{}})",
          R"({"type":"","object":{}})",
          R"({"type":"ADDED","object":{"spec":5}})",
          "{\"type\":\"ADDED\",\"object\":{\"\xff\":1}}",
          R"({"type":"ADDED","object":{"kind":"Service","apiVersion":"v1"}})",
          R"({"type":"ADDED","object":{}} x)",
          R"({"type":"ADDED","object":{}}})"}) {
      EXPECT_THROW(static_cast<void>(read<Pod>(Format::kJson, stream, chunks_of(size))), CodecError)
          << stream;
    }
  }
}

TEST(WatchReader, RefusesGarbageInProtobuf) {
  const std::string object = pod_object("p");
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    for (const std::string& stream :
         {frame(""), frame("\xff"), frame(wire::bytes(1, "ADDED")),
          frame(wire::bytes(2, wire::bytes(1, object))), protobuf_event("NEWS", object),
          protobuf_event("ADDED", ""), protobuf_event("ADDED", "not an envelope"),
          protobuf_event("ADDED", object.substr(0, object.size() - 5)),
          protobuf_event("ADDED", encode_protobuf(ConfigMap{})),
          frame(wire::bytes(1, "ADDED") + wire::bytes(2, "\x0a\x7f")),
          frame(wire::integer(1, 5) + wire::bytes(2, wire::bytes(1, object))),
          std::string("\0\0\0", 3), protobuf_event("ADDED", object) + "\n"}) {
      EXPECT_THROW(static_cast<void>(read<Pod>(Format::kProtobuf, stream, chunks_of(size))),
                   CodecError);
    }
  }
}

TEST(WatchReader, NamesTheUnknownType) {
  EXPECT_EQ(error_of([] {
              return read<Pod>(Format::kJson, R"({"type":"NEWS","object":{}})", chunks_of(7));
            }),
            "type: unknown event type \"NEWS\" (byte 0)");
  EXPECT_LT(error_of([] {
              return read<Pod>(Format::kProtobuf,
                               protobuf_event(std::string(1 << 20, 'N'), pod_object("p")),
                               chunks_of(1 << 20));
            }).size(),
            300U);
}

TEST(WatchReader, NamesThePlaceInTheWholeStream) {
  const std::string json =
      json_event("ADDED", "p") + R"({"type":"MODIFIED","object":{"spec":{"nodeName":5}}})";
  const std::string protobuf =
      protobuf_event("ADDED", pod_object("p")) + protobuf_event("ADDED", pod_object("\xff"));
  for (const std::size_t size : {std::size_t{1}, std::size_t{10}, std::size_t{1000}}) {
    EXPECT_EQ(error_of([&] { return read<Pod>(Format::kJson, json, chunks_of(size)); }),
              "spec.nodeName: expected string, found number (byte " +
                  std::to_string(json.rfind('5')) + ")");
    EXPECT_EQ(error_of([&] { return read<Pod>(Format::kProtobuf, protobuf, chunks_of(size)); }),
              "metadata.name: text is not valid UTF-8 (byte " +
                  std::to_string(protobuf.find('\xff')) + ")");
  }
}

TEST(WatchReader, RefusesFramesBeyondTheLimit) {
  const DecoderOptions options{.limits = {.max_frame = 200}};
  const std::string large(300, 'x');
  for (const std::size_t size : {std::size_t{1}, std::size_t{50}, std::size_t{1000}}) {
    EXPECT_TRUE(error_of([&] {
                  return read<Pod>(Format::kJson, json_event("ADDED", large), chunks_of(size),
                                   options);
                }).starts_with("event larger than the limit of 200 bytes"));
    EXPECT_TRUE(error_of([&] {
                  return read<Pod>(Format::kProtobuf, protobuf_event("ADDED", large),
                                   chunks_of(size), options);
                }).starts_with("event larger than the limit of 200 bytes"));
    // Many small events in one chunk do not count as a large one.
    EXPECT_EQ(read<Pod>(Format::kJson, test::times(20, json_event("ADDED", "p")), chunks_of(size),
                        options)
                  .size(),
              20U);
  }
}

TEST(WatchReader, RefusesAStreamThatEndsWithinAFrame) {
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    const std::string event = format == Format::kJson
                                  ? std::string{R"({"type":"ADDED","object":{}})"}
                                  : protobuf_event("ADDED", pod_object("p"));
    for (std::size_t size = 1; size < event.size(); ++size) {
      EXPECT_EQ(
          error_of([&] { return read<Pod>(format, event + event.substr(0, size), chunks_of(4)); }),
          "the stream ended within an event (byte " + std::to_string(event.size() + size) + ")");
    }
  }
  EXPECT_TRUE(read<Pod>(Format::kJson, " \n ", chunks_of(1)).empty());
}

TEST(WatchSplitter, SeesTheObjectOfTheNextFrameOnceAllOfItIsThere) {
  const std::string object = pod_object("a");
  const std::string event = protobuf_event("ADDED", object);
  const detail::WatchSplitter splitter{Format::kProtobuf, {}};

  for (std::size_t size = 0; size < event.size(); ++size) {
    EXPECT_EQ(splitter.upcoming(std::string_view{event}.substr(0, size)), "") << size;
  }
  EXPECT_EQ(splitter.upcoming(event), object);
  EXPECT_EQ(splitter.upcoming(event + event), object);
}

TEST(WatchSplitter, SeesNoNextObjectInGarbageOrJson) {
  const detail::WatchSplitter protobuf{Format::kProtobuf, {}};
  EXPECT_EQ(protobuf.upcoming(frame("\xff\xff\xff")), "");
  EXPECT_EQ(protobuf.upcoming(frame("")), "");
  const detail::WatchSplitter json{Format::kJson, {}};
  EXPECT_EQ(json.upcoming(json_event("ADDED", "a")), "");
}

TEST(WatchReader, LeavesNothingInThePoolWhenItIsGone) {
  const auto pool = std::make_shared<Pool>();
  const std::string stream = test::times(5, test::fixture("watch_pods.pb"));

  EXPECT_EQ(read<Pod>(Format::kProtobuf, stream, chunks_of(100), {.pool = pool}).size(), 10U);
  EXPECT_EQ(pool->totals().nodes, 0U);
}

}  // namespace
}  // namespace kube
