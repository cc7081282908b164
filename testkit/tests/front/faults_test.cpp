// SPDX-License-Identifier: Apache-2.0
#include "front_fixture.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

// BK-6: each fault, and its effect on a client.
namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kWatch = "/api/v1/pods?watch=1";

struct FaultsTest : testing::Test {
  /// Opens a watch and reads the response head.
  std::unique_ptr<RawClient> watch() {
    server.stream_script();
    auto client = std::make_unique<RawClient>(server.port());
    client->get(kWatch);
    EXPECT_EQ(client->read_head().status, 200);
    return client;
  }
  void push_events(int count) {
    for (int i = 1; i <= count; ++i) {
      server.script.push(R"({"type":"ADDED","object":{}})"
                         "\n",
                         FrameKind::kEvent, static_cast<std::uint64_t>(100 + i));
    }
  }
  FrontUnderTest server;
};

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Reads the rest of a chunked body, up to its end or the end of the connection.
std::string rest(RawClient& client) {
  std::string body;
  for (std::string chunk; !(chunk = client.read_chunk()).empty();) body += chunk;
  return body;
}

TEST_F(FaultsTest, RespondAppliesToTheNextMatchingRequestsOnly) {
  server.faults.next(2).matching({.verb = "list", .resource = "pods"}).respond(503, 7s);
  RawClient client{server.port()};
  const auto get = [&](std::string_view target) {
    client.get(target);
    return client.read_response();
  };

  EXPECT_EQ(get("/api/v1/namespaces/a/pods/web-0").status, 200);
  EXPECT_EQ(get("/api/v1/nodes").status, 200);
  const RawResponse struck = get("/api/v1/pods");
  EXPECT_EQ(struck.status, 503);
  EXPECT_EQ(struck.headers.at("retry-after"), "7");
  const auto status = decode_json<Value>(struck.body);
  EXPECT_EQ(status->get_string("reason"), "ServiceUnavailable");
  EXPECT_EQ(status->get_integer("details.retryAfterSeconds"), 7);
  EXPECT_EQ(get("/api/v1/namespaces/a/pods").status, 503);
  EXPECT_EQ(get("/api/v1/pods").status, 200);
  EXPECT_EQ(server.faults.struck(), 2U);
  EXPECT_EQ(server.faults.waiting(), 0U);
}

TEST_F(FaultsTest, RespondSendsWhatItIsGiven) {
  server.faults.next().respond(200, {}, "<html>", {{"Content-Type", "text/html"}});
  RawClient client{server.port()};

  client.get("/api/v1/pods");
  const RawResponse response = client.read_response();

  EXPECT_EQ(response.body, "<html>");
  EXPECT_EQ(response.headers.at("content-type"), "text/html");
  EXPECT_EQ(server.handler.requests, 0);
}

TEST_F(FaultsTest, BreakBeforeHeadResetsWithoutExecuting) {
  server.faults.next().break_before_head();
  RawClient client{server.port()};

  client.post("/api/v1/namespaces/a/pods", "{}");

  EXPECT_EQ(client.read_some(), "");
  EXPECT_TRUE(client.was_reset());
  EXPECT_EQ(server.handler.requests, 0);
  EXPECT_EQ(server.log.entries().at(0).status, 0);
}

TEST_F(FaultsTest, LoseAnswerExecutesFirst) {
  server.faults.next().lose_answer();
  RawClient client{server.port()};

  client.post("/api/v1/namespaces/a/pods", "{}");

  EXPECT_EQ(client.read_some(), "");
  EXPECT_EQ(server.handler.requests, 1);
}

TEST_F(FaultsTest, BreakAfterHeadDeliversTheHeadOnly) {
  server.faults.next().break_after_head();
  RawClient client{server.port()};

  client.get("/api/v1/namespaces/a/pods/web-0");
  const RawResponse response = client.read_response();

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
  EXPECT_FALSE(response.complete);
}

TEST_F(FaultsTest, BreakAfterBytesCutsTheBody) {
  server.faults.next().break_after_bytes(5);
  RawClient client{server.port()};

  client.get("/api/v1/pods");
  const RawResponse response = client.read_response();

  EXPECT_EQ(response.body, "GET /");
  EXPECT_FALSE(response.complete);
}

TEST_F(FaultsTest, DropAfterBreaksTheWatchAfterNEvents) {
  server.faults.drop_watches_after(3);
  const auto client = watch();
  server.script.push("bookmark\n", FrameKind::kBookmark);

  push_events(5);

  EXPECT_EQ(lines(rest(*client)), 3U + 1U);
  EXPECT_EQ(client->read_some(), "");
  EXPECT_TRUE(server.script.wait_until_dropped());
}

TEST_F(FaultsTest, EndAfterEndsTheWatchProperly) {
  server.faults.always().matching({.verb = "watch"}).end_after(2);
  const auto client = watch();

  push_events(3);

  EXPECT_EQ(lines(rest(*client)), 2U);
  server.handler.answer = [](const ServerRequest&) { return ServerResponse{.body = "still open"}; };
  client->get("/x");
  EXPECT_EQ(client->read_response().body, "still open");
}

TEST_F(FaultsTest, DropAtRevisionDeliversEarlierRevisions) {
  server.faults.next().matching({.verb = "watch"}).drop_at_revision(103);
  const auto client = watch();

  push_events(5);

  EXPECT_EQ(lines(rest(*client)), 2U);
}

TEST_F(FaultsTest, SilenceSendsNothingAndClosesNothing) {
  server.faults.next().go_silent();
  RawClient client{server.port()};

  client.get("/api/v1/pods");

  EXPECT_TRUE(server.log.wait_for({}, 1));
  EXPECT_FALSE(client.readable(50ms));
  EXPECT_EQ(server.front.connections(), 1U);
}

TEST_F(FaultsTest, SilenceAfterEventsStopsAWatch) {
  server.faults.next().go_silent_after(1);
  const auto client = watch();

  push_events(1);
  EXPECT_EQ(lines(client->read_chunk()), 1U);
  push_events(3);

  EXPECT_FALSE(client->readable(50ms));
}

TEST_F(FaultsTest, TruncateDeliversHalfAFrameAndEndsProperly) {
  server.faults.next().truncate_frame(2);
  const auto client = watch();

  server.script.push("{\"first\":1}\n");
  EXPECT_EQ(client->read_chunk(), "{\"first\":1}\n");
  server.script.push("{\"second\":2}\n");

  EXPECT_EQ(client->read_chunk(), "{\"seco");
  EXPECT_EQ(client->read_chunk(), "");
}

TEST_F(FaultsTest, TruncatesWholeBodiesToo) {
  server.faults.next().truncate_frame();
  RawClient client{server.port()};

  client.get("/api/v1/namespaces/a/pods/b");
  const RawResponse response = client.read_response();

  EXPECT_TRUE(response.complete);
  EXPECT_EQ(response.body, "GET /api/v1/name");
}

TEST_F(FaultsTest, CorruptMakesAFrameUnreadable) {
  server.faults.next().corrupt_frame();
  const auto client = watch();

  push_events(2);
  server.script.end();
  const std::string body = rest(*client);

  const std::size_t end = body.find('\n');
  EXPECT_THROW((void)decode_json<Value>(body.substr(0, end)), CodecError);
  EXPECT_NO_THROW((void)decode_json<Value>(body.substr(end + 1)));
}

TEST_F(FaultsTest, WithholdsBookmarks) {
  server.faults.next().withhold_bookmarks();
  const auto client = watch();

  server.script.push("end\n", FrameKind::kInitialEventsEnd);
  server.script.push("bookmark\n", FrameKind::kBookmark);
  server.script.push("event\n");

  EXPECT_EQ(client->read_chunk(), "event\n");
}

TEST_F(FaultsTest, WithholdsOnlyTheEndOfTheInitialEvents) {
  server.faults.next().withhold_initial_events_end();
  const auto client = watch();

  server.script.push("end\n", FrameKind::kInitialEventsEnd);
  server.script.push("bookmark\n", FrameKind::kBookmark);

  EXPECT_EQ(client->read_chunk(), "bookmark\n");
}

TEST_F(FaultsTest, DelayWaitsForTheClock) {
  server.faults.next().delay(5s);
  RawClient client{server.port()};

  client.get("/api/v1/pods");
  ASSERT_TRUE(server.clock.wait_for_sleepers(1));
  EXPECT_EQ(server.handler.requests, 0);
  server.clock.advance(5s);

  EXPECT_EQ(client.read_response().status, 200);
}

TEST_F(FaultsTest, DripSendsAFewBytesAtATime) {
  server.faults.next().drip(3, 1s);
  RawClient client{server.port()};

  client.get("/api/v1/namespaces/a/pods/b");
  (void)client.read_head();
  EXPECT_EQ(client.read_exactly(3), "GET");
  ASSERT_TRUE(server.clock.wait_for_sleepers(1));
  EXPECT_FALSE(client.readable(20ms));
  server.clock.advance(1s);

  EXPECT_EQ(client.read_exactly(3), " /a");
}

TEST_F(FaultsTest, SlowsDownOnlyTheMatchingClient) {
  server.faults.always().matching({.verb = "watch", .user_agent = "slow/"}).slow_down(1s);
  server.stream_script();
  RawClient slow{server.port()};
  slow.get(kWatch, "User-Agent: slow/1.0\r\n");
  (void)slow.read_head();
  push_events(2);

  EXPECT_EQ(lines(slow.read_chunk()), 1U);
  ASSERT_TRUE(server.clock.wait_for_sleepers(1));
  EXPECT_FALSE(slow.readable(20ms));
  RawClient quick{server.port()};
  server.handler.answer = [](const ServerRequest&) { return ServerResponse{.body = "quick"}; };
  quick.get(kWatch, "User-Agent: quick/1.0\r\n");
  EXPECT_EQ(quick.read_response().body, "quick");
  server.clock.advance(1s);
  EXPECT_EQ(lines(slow.read_chunk()), 1U);
}

TEST_F(FaultsTest, DropConnectionsBreaksOpenConnections) {
  const auto client = watch();

  server.faults.drop_connections();

  EXPECT_EQ(client->read_some(), "");
}

TEST_F(FaultsTest, AfterLetsRequestsPassFirst) {
  server.faults.next().after(2).respond(500);
  RawClient client{server.port()};
  std::vector<int> statuses;

  for (int i = 0; i < 4; ++i) {
    client.get("/x");
    statuses.push_back(client.read_response().status);
  }

  EXPECT_EQ(statuses, (std::vector<int>{200, 200, 500, 200}));
}

TEST(Faults, SameSeedSelectsTheSameRequests) {
  const auto run = [] {
    FrontUnderTest server;
    server.faults.always().with_probability(0.5).respond(500);
    RawClient client{server.port()};
    std::string pattern;
    for (int i = 0; i < 40; ++i) {
      client.get("/x");
      pattern += client.read_response().status == 500 ? 'x' : '.';
    }
    return pattern;
  };

  const std::string first = run();

  EXPECT_EQ(run(), first);
  EXPECT_NE(first.find('x'), std::string::npos);
  EXPECT_NE(first.find('.'), std::string::npos);
}

TEST_F(FaultsTest, ClearRemovesFaults) {
  server.faults.always().respond(500);
  server.faults.clear();
  RawClient client{server.port()};

  client.get("/x");

  EXPECT_EQ(client.read_response().status, 200);
}

}  // namespace
}  // namespace kube::testkit::detail
