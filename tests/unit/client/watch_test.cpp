// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include "support/fixtures.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace kube {
namespace {

using namespace std::chrono_literals;
using core::v1::ConfigMap;
using core::v1::Pod;
using test::api_error;
using test::FakeAnswer;
using test::fixture;
using test::Scripted;
using test::status_json;
using testing::ElementsAre;

std::string frame(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
std::string pod_frame(const std::string& type, const std::string& name,
                      const std::string& version) {
  return frame(type, test::pod_json(name, version));
}
FakeAnswer stream(std::vector<std::string> chunks) { return {.chunks = std::move(chunks)}; }
FakeAnswer protobuf_stream(std::vector<std::string> chunks) {
  return {.headers = {{"Content-Type", "application/vnd.kubernetes.protobuf;stream=watch"}},
          .chunks = std::move(chunks)};
}

/// Formats an event: "ADDED web-0", ..., "ERROR 410 reason".
template <typename T>
std::string shown(const WatchEvent<T>& event) {
  if (event.type == EventType::kError) {
    return "ERROR " + std::to_string(event.status->code) + ' ' + event.status->reason.str();
  }
  return std::string{to_string(event.type)} + ' ' + event.object->metadata.name.str();
}
template <typename WatchType>
std::vector<std::string> rest_of(WatchType watch) {
  std::vector<std::string> events;
  for (const auto& event : watch) events.push_back(shown(event));
  return events;
}

struct Watching : testing::Test {
  Watch<Pod> watch(FakeAnswer answer) {
    scripted.transport->answer(std::move(answer));
    return scripted.client().resource<Pod>("shop").watch();
  }
  Scripted scripted;
};

// WA-1
TEST_F(Watching, NeedsTheStatus200) {
  EXPECT_THAT(rest_of(watch(stream({pod_frame("ADDED", "a", "1")}))), ElementsAre("ADDED a"));
  EXPECT_EQ(scripted.transport->last().target, "/api/v1/namespaces/shop/pods?watch=true");
  for (const int code : {201, 204, 206, 302, 400, 401, 403, 404, 500, 503, 504}) {
    EXPECT_EQ(api_error([&] { (void)watch(FakeAnswer::text("no", code)); }).code(), code);
  }
  // RC-13
  scripted.transport->answer(FakeAnswer::text("", 429).with("Retry-After", "2"));
  EXPECT_THAT(rest_of(watch(stream({pod_frame("ADDED", "a", "1")}))), ElementsAre("ADDED a"));
}

// WA-11
TEST_F(Watching, AtAnOldVersionIsRefused) {
  const ApiError error =
      api_error([&] { (void)watch(FakeAnswer::json(status_json(410, "Expired"), 410)); });
  EXPECT_TRUE(is_resource_expired(error));
  EXPECT_THAT(rest_of(watch(stream(
                  {pod_frame("ADDED", "a", "1"), frame("ERROR", status_json(410, "Expired"))}))),
              ElementsAre("ADDED a", "ERROR 410 Expired"));
}

// WA-2, WA-3
TEST_F(Watching, DeliversEvents) {
  Watch<Pod> pods = watch(stream(
      {pod_frame("ADDED", "a", "1"), pod_frame("MODIFIED", "a", "2"),
       pod_frame("DELETED", "a", "3"),
       frame("BOOKMARK", R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
                         R"("annotations":{"k8s.io/initial-events-end":"true"}},)"
                         R"("spec":{"containers":null},"status":{}})")}));
  std::vector<std::string> seen;
  for (int i = 0; i < 3; ++i) {
    const auto event = pods.next();
    seen.push_back(shown(*event) + '@' + event->object->metadata.resource_version.str());
    EXPECT_EQ(event->status, nullptr);
  }
  EXPECT_THAT(seen, ElementsAre("ADDED a@1", "MODIFIED a@2", "DELETED a@3"));
  const auto bookmark = pods.next();
  EXPECT_EQ(bookmark->type, EventType::kBookmark);
  EXPECT_EQ(bookmark->object->metadata.resource_version, "9");
  EXPECT_EQ(bookmark->object->metadata.annotations.size(), 1U);
  EXPECT_EQ(pods.next(), std::nullopt);
  EXPECT_EQ(pods.next(), std::nullopt);
}

// WA-4, WA-5, WA-6, WA-7: recorded streams, split at any byte.
TEST_F(Watching, ReadsRecordedStreamsInAnyPieces) {
  const auto config_maps = scripted.client().resource<ConfigMap>();
  std::vector<std::string> whole;
  for (const std::size_t size : {1U, 3U, 100U, 1'000'000U}) {
    for (const bool is_json : {true, false}) {
      const std::string body = fixture(is_json ? "watch_configmaps.json" : "watch_configmaps.pb");
      std::vector<std::string> pieces;
      for (std::size_t at = 0; at < body.size(); at += size)
        pieces.push_back(body.substr(at, size));
      scripted.transport->answer(is_json ? stream(std::move(pieces))
                                         : protobuf_stream(std::move(pieces)));
      const std::vector<std::string> events = rest_of(config_maps.watch());
      ASSERT_GT(events.size(), 1U);
      if (whole.empty()) whole = events;
      EXPECT_EQ(events, whole) << size;
    }
  }
}

// WA-4: frames are values, not lines.
TEST_F(Watching, SplitsBetweenValues) {
  std::string together;
  for (const char* name : {"a", "b", "c"}) {
    std::string one = pod_frame("ADDED", name, "1");
    one.pop_back();
    together += one;
  }
  EXPECT_THAT(rest_of(watch(stream({" \n" + together.insert(1, "\n")}))),
              ElementsAre("ADDED a", "ADDED b", "ADDED c"));
}

// WA-3, WA-7
TEST_F(Watching, DecodesErrorsInProtobufToo) {
  const std::string status = encode_protobuf(meta::v1::Status{.reason = "Expired", .code = 410});
  const std::string raw = std::string{"\x0a"} + static_cast<char>(status.size()) + status;
  std::string event = std::string{"\x0a\x05"} + "ERROR\x12" + static_cast<char>(raw.size()) + raw;
  event = std::string{'\0', '\0', '\0', static_cast<char>(event.size())} + event;
  EXPECT_THAT(rest_of(watch(protobuf_stream({event}))), ElementsAre("ERROR 410 Expired"));
}

void expect_decoding_error(Watch<Pod> watch, const std::string& what) {
  const auto event = watch.next();
  ASSERT_TRUE(event) << what;
  ASSERT_EQ(event->type, EventType::kError) << what;
  EXPECT_EQ(event->object, nullptr);
  EXPECT_EQ(event->status->code, 500);
  const ApiError error{*event->status};
  EXPECT_TRUE(is_unexpected_server_error(error));
  EXPECT_TRUE(has_cause(error, "ClientWatchDecoding"));
  EXPECT_EQ(watch.next(), std::nullopt) << "one error, then the end: " << what;
}

// WA-2, WA-9
TEST_F(Watching, EndsWithOneErrorWhenItCannotBeDecoded) {
  for (const std::string& bad :
       {std::string{"garbage"}, std::string{"[]"}, frame("RENAMED", test::pod_json("a")),
        frame("added", test::pod_json("a")), frame("ADDED", R"({"kind":"Node","apiVersion":"v1"})"),
        frame("ADDED", R"({"metadata":{"name":7}})"), frame("ADDED", R"({"metadata":})"),
        frame("ERROR", R"({"kind":"Pod","apiVersion":"v1"})"), frame("ERROR", R"("text")"),
        std::string{R"({"object":{}})"}, std::string{R"({"type":"ADDED"})"}}) {
    expect_decoding_error(watch(stream({bad, pod_frame("ADDED", "never", "1")})), bad);
  }
  expect_decoding_error(watch(protobuf_stream({std::string{"\0\0\0\x04zzzz", 8}})), "protobuf");
  // Bytes that are not valid HTTP: damaged, not lost.
  expect_decoding_error(watch({.cut = TransportError::Kind::kProtocol}), "protocol");
  EXPECT_EQ(scripted.transport->totals().open, 0);
}

// WA-9: events before the damage are delivered, even from the same piece.
TEST_F(Watching, DeliversEventsBeforeTheDamage) {
  EXPECT_THAT(
      rest_of(watch(stream({pod_frame("ADDED", "a", "1") + pod_frame("ADDED", "b", "2") + "x"}))),
      ElementsAre("ADDED a", "ADDED b", "ERROR 500 InternalError"));
}

// WA-8
TEST_F(Watching, RefusesFramesAbove16MiB) {
  FakeAnswer json = stream({R"({"type":"ADDED","object":{"metadata":{"name":")"});
  for (int i = 0; i < 17; ++i) json.chunks.emplace_back(std::size_t{1} << 20, 'x');
  expect_decoding_error(watch(std::move(json)), "JSON");
  expect_decoding_error(watch(protobuf_stream({std::string{"\x01\0\0\x01", 4}})), "protobuf");
  // A frame just below the limit is accepted.
  const std::string name(std::size_t{15} << 20, 'x');
  EXPECT_THAT(rest_of(watch(stream({pod_frame("ADDED", name, "1")}))),
              ElementsAre("ADDED " + name));
}

// WA-9
TEST_F(Watching, EndsQuietlyWhenTheStreamDoes) {
  const std::string half = pod_frame("ADDED", "b", "2").substr(0, 30);
  EXPECT_THAT(rest_of(watch(stream({}))), ElementsAre());
  EXPECT_THAT(rest_of(watch(stream({pod_frame("ADDED", "a", "1"), half}))), ElementsAre("ADDED a"));
  EXPECT_THAT(rest_of(watch(protobuf_stream({std::string{"\0\0", 2}}))), ElementsAre());
  for (const auto kind : {TransportError::Kind::kConnectionLost, TransportError::Kind::kTimeout}) {
    FakeAnswer cut = stream({pod_frame("ADDED", "a", "1"), half});
    cut.cut = kind;
    EXPECT_THAT(rest_of(watch(std::move(cut))), ElementsAre("ADDED a"));
  }
}

// WA-10
TEST_F(Watching, ReadsNothingAheadOfItsConsumer) {
  Watch<Pod> pods = watch(stream(
      {pod_frame("ADDED", "a", "1"), pod_frame("ADDED", "b", "2"), pod_frame("ADDED", "c", "3")}));
  EXPECT_EQ(scripted.transport->totals().reads, 0);
  (void)pods.next();
  EXPECT_EQ(scripted.transport->totals().reads, 1);
  (void)pods.next();
  EXPECT_EQ(scripted.transport->totals().reads, 2);
}

// WA-10: only a part of a large piece is decoded at a time.
TEST_F(Watching, DecodesOnlyALittleAhead) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += pod_frame("ADDED", "a" + std::string(900, 'x'), "1");
  Watch<Pod> pods = watch(stream({many}));
  const std::size_t before = block_totals().blocks;
  const auto first = pods.next();
  EXPECT_LE(block_totals().blocks - before, 64U);
}

// WA-10: only a few large objects are decoded at a time.
TEST_F(Watching, DecodesLessAheadOfLargeObjects) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += pod_frame("ADDED", "a" + std::string(100'000, 'x'), "1");
  Watch<Pod> pods = watch(stream({many}));
  const std::size_t before = block_totals().blocks;
  const auto first = pods.next();
  EXPECT_LE(block_totals().blocks - before, 6U);
}

// WA-10
TEST_F(Watching, CanBeStoppedFromAnyThreadAnyNumberOfTimes) {
  Watch<Pod> pods = watch({.chunks = {pod_frame("ADDED", "a", "1")}, .hangs = true});
  EXPECT_TRUE(pods.next());
  std::jthread stopper{[&] {
    EXPECT_TRUE(scripted.transport->wait_for_reads(2));
    pods.stop();
    pods.stop();
  }};
  EXPECT_EQ(pods.next(), std::nullopt);
  stopper.join();
  pods.stop();
  EXPECT_EQ(pods.next(), std::nullopt);
  EXPECT_EQ(scripted.transport->totals().canceled, 1);
}

// WA-10
TEST_F(Watching, DropsWhatIsLeftAfterAStop) {
  Watch<Pod> pods = watch(stream({pod_frame("ADDED", "a", "1") + pod_frame("ADDED", "b", "2")}));
  EXPECT_TRUE(pods.next());
  pods.stop();
  EXPECT_EQ(pods.next(), std::nullopt);
}

TEST_F(Watching, EndsWithTheTokenOfItsReader) {
  Watch<Pod> pods = watch({.hangs = true});
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(scripted.transport->wait_for_reads(1));
    stop.request_stop();
  }};
  EXPECT_EQ(pods.next(stop.get_token()), std::nullopt);
  EXPECT_EQ(pods.next(), std::nullopt) << "for good";
}

TEST_F(Watching, ClosesTheStreamWhenItGoesAway) {
  { const Watch<Pod> pods = watch({.hangs = true}); }
  EXPECT_EQ(scripted.transport->totals().open, 0);
}

TEST_F(Watching, WorksWithoutTypesAndForMetadata) {
  scripted.transport->answer(stream({pod_frame("ADDED", "a", "1")}));
  Watch<Value> dynamic = scripted.client().dynamic({"", "v1", "pods"}).watch();
  EXPECT_EQ(dynamic.next()->object->get_string("metadata.name"), "a");

  scripted.transport->answer(stream({pod_frame("ADDED", "a", "1")}));
  EXPECT_THAT(rest_of(scripted.client().metadata({"", "v1", "pods"}).watch()),
              ElementsAre("ADDED a"));
  scripted.transport->answer(protobuf_stream({fixture("watch_pods.pb")}));
  EXPECT_THAT(rest_of(scripted.client().metadata({"", "v1", "pods"}).watch()),
              testing::Not(testing::IsEmpty()));
}

TEST_F(Watching, SharesContentThroughThePoolThatItIsGiven) {
  scripted.transport->answer(stream({pod_frame("ADDED", "a", "1")}));
  Watch<Pod> pods = scripted.client()
                        .resource<Pod>()
                        .with_decoding({.pool = std::make_shared<Pool>(),
                                        .projection = without_fields<Pod>("metadata.name")})
                        .watch();
  EXPECT_EQ(pods.next()->object->metadata.name, "");
}

struct Retrying : testing::Test {
  RetryWatch<Pod> watch(const std::string& version = "5") {
    return scripted.client().resource<Pod>("shop").retry_watch({.resource_version = version});
  }
  std::vector<std::string> versions() const {
    std::vector<std::string> result;
    for (const HttpRequest& request : scripted.transport->requests()) {
      const std::size_t at = request.target.find("resourceVersion=") + 16;
      result.push_back(request.target.substr(at, request.target.find('&', at) - at));
    }
    return result;
  }
  void answer(FakeAnswer answer) { scripted.transport->answer(std::move(answer)); }
  void end_with_410() { answer(stream({frame("ERROR", status_json(410, "Expired"))})); }
  Scripted scripted;
};

// WA-12
TEST_F(Retrying, NeedsAVersionToStartFrom) {
  EXPECT_THROW((void)watch(""), std::invalid_argument);
  EXPECT_THROW((void)watch("0"), std::invalid_argument);
}

// WA-12
TEST_F(Retrying, GoesOnWhereItEnded) {
  answer(stream({pod_frame("ADDED", "a", "6"), pod_frame("MODIFIED", "a", "7")}));
  answer(stream({pod_frame("BOOKMARK", "", "20")}));
  answer(stream({}));
  answer(stream({pod_frame("DELETED", "a", "21")}));
  end_with_410();
  RetryWatch<Pod> pods = watch();
  EXPECT_THAT(shown(*pods.next()), "ADDED a");
  EXPECT_EQ(pods.last_version(), "6");
  EXPECT_THAT(rest_of(std::move(pods)),
              ElementsAre("MODIFIED a", "DELETED a", "ERROR 410 Expired"));
  EXPECT_THAT(versions(), ElementsAre("5", "7", "20", "20", "21"));
  for (const HttpRequest& request : scripted.transport->requests()) {
    EXPECT_THAT(request.target, testing::HasSubstr("allowWatchBookmarks=true"));
  }
  EXPECT_THAT(scripted.clock.sleeps(), ElementsAre(1s, 1s, 1s, 1s));
}

// WA-12
TEST_F(Retrying, DoesNotWaitIfTheLastAttemptWasLong) {
  answer(stream({pod_frame("ADDED", "a", "6")}));
  end_with_410();
  RetryWatch<Pod> pods = watch();
  (void)pods.next();
  scripted.clock.advance(700ms);
  (void)pods.next();
  EXPECT_THAT(scripted.clock.sleeps(), ElementsAre(300ms));

  answer(stream({pod_frame("ADDED", "a", "6")}));
  end_with_410();
  RetryWatch<Pod> longer = watch();
  (void)longer.next();
  scripted.clock.advance(5s);
  (void)longer.next();
  EXPECT_EQ(scripted.clock.sleeps().size(), 1U);
}

// WA-13
TEST_F(Retrying, WaitsAsErrorsAsk) {
  answer(stream({frame("ERROR", status_json(500, "InternalError"))}));
  answer(stream({frame("ERROR", status_json(504, "Timeout", "m", R"({"retryAfterSeconds":7})"))}));
  answer(stream({frame("ERROR", status_json(418, ""))}));
  answer(stream({"garbage"}));
  end_with_410();
  EXPECT_THAT(rest_of(watch()), ElementsAre("ERROR 410 Expired"));
  EXPECT_THAT(scripted.clock.sleeps(), ElementsAre(1s, 7s, 1s, 1s));
}

// WA-13
TEST_F(Retrying, EndsAtAnObjectWithoutVersion) {
  answer(stream({pod_frame("ADDED", "a", "6"), pod_frame("ADDED", "b", "")}));
  EXPECT_THAT(rest_of(watch()), ElementsAre("ADDED a", "ERROR 500 InternalError"));
}

// WA-14
TEST_F(Retrying, EndsWhenTheUserIsRefused) {
  for (const auto& [code, reason] :
       std::vector<std::pair<int, std::string>>{{401, "Unauthorized"}, {403, "Forbidden"}}) {
    answer(FakeAnswer::json(status_json(code, reason), code));
    EXPECT_THAT(rest_of(watch()), ElementsAre("ERROR " + std::to_string(code) + ' ' + reason));
  }
}

// WA-14
TEST_F(Retrying, TriesAgainAfterAnyOtherFailureToOpen) {
  answer(FakeAnswer::json(status_json(410, "Expired"), 410));
  answer(FakeAnswer::json(status_json(500, "InternalError"), 500));
  answer(FakeAnswer::text("<html>", 200, "text/html"));
  answer(FakeAnswer::error(TransportError::Kind::kConnect));
  answer(stream({pod_frame("ADDED", "a", "6")}));
  end_with_410();
  EXPECT_THAT(rest_of(watch()), ElementsAre("ADDED a", "ERROR 410 Expired"));
  EXPECT_THAT(versions(), ElementsAre("5", "5", "5", "5", "5", "6"));
}

TEST_F(Retrying, StopsWhileItReadsAndWhileItWaits) {
  answer({.hangs = true});
  RetryWatch<Pod> reading = watch();
  std::jthread stopper{[&] {
    EXPECT_TRUE(scripted.transport->wait_for_reads(1));
    reading.stop();
  }};
  EXPECT_EQ(reading.next(), std::nullopt);
  stopper.join();

  std::stop_source stop;
  scripted.clock.on_sleep = [&] { stop.request_stop(); };
  RetryWatch<Pod> waiting = watch();  // there is no response
  EXPECT_EQ(waiting.next(stop.get_token()), std::nullopt);
  EXPECT_EQ(waiting.next(), std::nullopt);
}

TEST_F(Retrying, WorksWithoutTypes) {
  answer(stream({pod_frame("ADDED", "a", "6")}));
  end_with_410();
  RetryWatch<Value> pods =
      scripted.client().dynamic({"", "v1", "pods"}).retry_watch({.resource_version = "5"});
  EXPECT_EQ(pods.next()->object->get_string("metadata.name"), "a");
  EXPECT_EQ(pods.next()->type, EventType::kError);
  EXPECT_THAT(versions(), ElementsAre("5", "6"));
}

}  // namespace
}  // namespace kube
