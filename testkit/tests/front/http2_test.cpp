// SPDX-License-Identifier: Apache-2.0
#include "front_fixture.hpp"
#include "http2_client.hpp"
#include "testkit/server/tls_authority.hpp"

#include <gtest/gtest.h>

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;

// RQ-9
TEST(Http2, AnnouncesTheSettingsOfAnApiServer) {
  FrontUnderTest server;
  Http2Client client{server.port()};

  client.run_until([&] { return client.settings().size() >= 4; });

  EXPECT_EQ(client.settings().at(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS), 100U);
  EXPECT_EQ(client.settings().at(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE), 262144U);
  EXPECT_EQ(client.settings().at(NGHTTP2_SETTINGS_MAX_FRAME_SIZE), 262144U);
  EXPECT_EQ(client.settings().at(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE), 1048896U);
}

TEST(Http2, AnswersConcurrentRequests) {
  FrontUnderTest server;
  Http2Client client{server.port()};
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(client.get(fmt::format("/{}", i)));
  const std::int32_t post = client.request("POST", "/x", "body");

  client.run_until([&] { return client.ended() == ids.size() + 1; });

  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(client.stream(ids[i]).body, fmt::format("GET /{} ", i));
  }
  EXPECT_EQ(client.stream(post).body, "POST /x body");
  EXPECT_EQ(client.stream(post).headers.at(":status"), "200");
  EXPECT_EQ(client.stream(post).headers.at("content-length"), "12");
  EXPECT_EQ(server.front.connections(), 1U);
}

TEST(Http2, ServesOverTls) {
  TlsAuthority authority;
  const Certificate own = authority.issue_server("127.0.0.1");
  FrontUnderTest server{{.tls = {own.certificate, own.key, ""}}};
  Http2Client client{server.port(), authority.ca_pem()};

  const std::int32_t id = client.get("/x");
  client.run_until([&] { return client.ended() == 1; });

  EXPECT_EQ(client.stream(id).body, "GET /x ");
}

// WT-1
TEST(Http2, StreamsFramesImmediatelyBesideOtherRequests) {
  FrontUnderTest server;
  server.handler.answer = [&](const ServerRequest& request) {
    if (request.target == "/watch") return ServerResponse{.stream = server.script.open()};
    return ServerResponse{.body = std::string(1000000, 'x')};
  };
  Http2Client client{server.port()};

  const std::int32_t watch = client.get("/watch");
  client.run_until([&] { return !client.stream(watch).headers.empty(); });
  server.script.push("one\n");
  client.run_until([&] { return client.stream(watch).body == "one\n"; });
  const std::int32_t large = client.get("/large");
  client.run_until([&] { return client.stream(large).ended; });
  server.script.push("two\n");
  server.script.end();
  client.run_until([&] { return client.stream(watch).ended; });

  EXPECT_EQ(client.stream(watch).body, "one\ntwo\n");
  EXPECT_EQ(client.stream(large).body.size(), 1000000U);
}

TEST(Http2, DoesNotPollForAStreamWhoseWindowIsClosed) {
  FrontUnderTest server;
  server.stream_script();
  for (int i = 0; i < 1000; ++i) server.script.push(std::string(10000, 'x'));
  Http2Client client{server.port(), {}, /*automatic_window=*/false};

  const std::int32_t watch = client.get("/watch");
  client.run_until([&] { return client.stream(watch).body.size() == 65535; });
  EXPECT_LT(server.script.taken(), 20U);

  server.script.end();
  client.run_until([&] {
    client.open_window(watch);
    return client.stream(watch).ended;
  });
  EXPECT_EQ(client.stream(watch).body.size(), 10000000U);
}

TEST(Http2, DropsTheStreamThatTheClientResets) {
  FrontUnderTest server;
  server.stream_script();
  Http2Client client{server.port()};
  const std::int32_t watch = client.get("/watch");
  client.run_until([&] { return !client.stream(watch).headers.empty(); });

  client.reset(watch);

  EXPECT_TRUE(server.script.wait_until_dropped());
  EXPECT_EQ(server.front.connections(), 1U);
}

// AU-1
TEST(Http2, ClosesTheConnectionOfUnauthenticatedClients) {
  FrontUnderTest server;
  server.handler.answer = [](const ServerRequest&) { return ServerResponse{.status = 401}; };
  Http2Client client{server.port()};

  const std::int32_t id = client.get("/x");
  client.run_until([&] { return client.closed(); });

  EXPECT_EQ(client.stream(id).headers.at(":status"), "401");
  EXPECT_TRUE(client.went_away());
}

// RQ-9
TEST(Http2, SendsGoAwayToIdleConnections) {
  FrontUnderTest server{{.limits = {.idle_timeout = 20ms}}};
  Http2Client client{server.port()};

  client.run_until([&] { return client.closed(); });

  EXPECT_TRUE(client.went_away());
}

// RQ-7
TEST(Http2, RefusesBodiesAboveTheLimit) {
  FrontUnderTest server;
  Http2Client client{server.port()};

  const std::int32_t fits = client.request("POST", "/x", std::string(3145728, 'x'));
  client.run_until([&] { return client.stream(fits).ended; });
  const std::int32_t id = client.request("POST", "/x", std::string(3145729, 'x'));
  client.run_until([&] { return client.stream(id).ended; });

  EXPECT_EQ(client.stream(fits).headers.at(":status"), "200");
  EXPECT_EQ(client.stream(id).headers.at(":status"), "413");
  EXPECT_EQ(server.handler.requests, 1);
}

TEST(Http2, SurvivesGarbageAfterThePreface) {
  FrontUnderTest server;
  for (const std::string& garbage : {std::string(1000, '\0'), std::string(1000, '\xff'),
                                     std::string{"GET / HTTP/1.1\r\n\r\n"}}) {
    RawClient client{server.port()};
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + garbage);
    (void)client.read_to_end();  // some frames, then the end
  }

  Http2Client client{server.port()};
  const std::int32_t id = client.get("/x");
  client.run_until([&] { return client.stream(id).ended; });
  EXPECT_EQ(client.stream(id).headers.at(":status"), "200");
}

TEST(Http2, FaultsBreakTheWholeConnection) {
  FrontUnderTest server;
  server.stream_script();
  server.faults.drop_watches_after(2);
  for (int i = 0; i < 5; ++i) server.script.push("event\n");
  Http2Client client{server.port()};

  const std::int32_t watch = client.get("/api/v1/pods?watch=1");
  client.run_until([&] { return client.closed(); });

  EXPECT_EQ(client.stream(watch).body, "event\nevent\n");
  EXPECT_FALSE(client.stream(watch).ended);
}

TEST(Http2, FaultsSilenceTheWholeConnection) {
  FrontUnderTest server;
  server.faults.next().matching({.path = "/silent"}).go_silent();
  Http2Client client{server.port()};

  client.get("/silent");
  ASSERT_TRUE(client.run_until_log(server.log, 1));
  client.get("/x");

  EXPECT_FALSE(client.run_for(50ms));
  EXPECT_EQ(server.front.connections(), 1U);
}

// FC-2
TEST(Http2, DrainEndsStreamsAndSendsGoAway) {
  FrontUnderTest server;
  server.stream_script();
  Http2Client client{server.port()};
  const std::int32_t watch = client.get("/watch");
  client.run_until([&] { return !client.stream(watch).headers.empty(); });

  std::jthread draining{[&] { server.front.drain(10s); }};
  client.run_until([&] { return client.closed(); });

  EXPECT_TRUE(client.stream(watch).ended);
  EXPECT_TRUE(client.went_away());
}

}  // namespace
}  // namespace kube::testkit::detail
