// SPDX-License-Identifier: Apache-2.0
// Limits on the resources that one client may use (RQ-12, RQ-13).
#include "front_fixture.hpp"
#include "http2_client.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;

/// Polls `condition`. Returns false if it is not true within ten seconds.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Sends `piece` repeatedly until the server responds. Returns false if it never does.
bool drip(RawClient& client, std::string_view piece) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!client.readable(2ms)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    client.send(piece);
  }
  return true;
}

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                  std::string_view payload) {
  std::string bytes;
  for (const std::size_t byte : {std::size_t{0}, payload.size() >> 8, payload.size() & 0xff,
                                 std::size_t{type}, std::size_t{flags}}) {
    bytes.push_back(static_cast<char>(byte));
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>((stream >> shift) & 0xff));
  }
  return bytes.append(payload);
}
std::string ping() { return frame(6, 0, 0, std::string(8, 'p')); }
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// POST / to localhost, as HPACK.
const std::string kPost = std::string{"\x83\x86\x84\x41\x09", 5} + "localhost";

// RQ-12
TEST(FrontLimits, SlowHeadIsRefused) {
  FrontUnderTest server{{.limits = {.head_timeout = 40ms}}};
  RawClient slow{server.port()};
  slow.send("GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");

  ASSERT_TRUE(drip(slow, "x"));
  const RawResponse answer = slow.read_response();

  EXPECT_EQ(answer.status, 408);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_NE(answer.body.find("the head of the request did not arrive within 40 ms"),
            std::string::npos)
      << answer.body;
  EXPECT_EQ(slow.read_some(), "");
  EXPECT_EQ(server.counters.slow_heads, 1U);
}

// RQ-12
TEST(FrontLimits, SilentConnectionIsClosed) {
  FrontUnderTest server{{.limits = {.head_timeout = 20ms}}};
  RawClient silent{server.port()};
  RawClient undecided{server.port()};
  undecided.send("PRI * HTTP/2");

  EXPECT_EQ(silent.read_some(), "");
  EXPECT_EQ(undecided.read_some(), "");
  EXPECT_EQ(server.counters.slow_heads, 2U);
}

// RQ-12
TEST(FrontLimits, SlowBodyIsRefused) {
  FrontUnderTest server{{.limits = {.body_timeout = 40ms}}};
  RawClient sized{server.port()};
  RawClient chunked{server.port()};
  sized.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  chunked.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");

  for (RawClient* slow : {&sized, &chunked}) {
    ASSERT_TRUE(drip(*slow, slow == &sized ? "x" : "1\r\nx\r\n"));
    const RawResponse answer = slow->read_response();
    EXPECT_EQ(answer.status, 408);
    EXPECT_NE(answer.body.find("the body of the request"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(server.counters.slow_bodies, 2U);
  EXPECT_EQ(server.handler.requests, 0);
}

// RQ-12: an endless line of a chunked body is not buffered without limit.
TEST(FrontLimits, EndlessChunkHeaderIsRefused) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
              std::string(1100000, 'x'));

  const int status = client.read_response().status;
  EXPECT_TRUE(status == 400 || status == 431) << status;
}

// RQ-12
TEST(FrontLimits, StreamWithoutItsBodyIsRefusedAndEnded) {
  FrontUnderTest server{{.limits = {.body_timeout = 40ms}}};
  RawClient slow{server.port()};
  slow.send(std::string{kPreface} + frame(4, 0, 0, "") + frame(1, 4, 1, kPost));

  std::string answer;
  const bool refused = eventually([&] {
    slow.send(frame(0, 0, 1, "x") + ping());
    answer += slow.read_some();
    return answer.find("the body of the request did not arrive") != std::string::npos;
  });

  EXPECT_TRUE(refused);
  EXPECT_TRUE(eventually([&] { return server.front.connections() == 0; }));
  EXPECT_EQ(server.counters.slow_bodies, 1U);
}

// RQ-12: no other frame may be sent inside a header block, so the connection ends.
TEST(FrontLimits, StreamWithoutItsHeadEndsTheConnection) {
  FrontUnderTest server{{.limits = {.head_timeout = 40ms}}};
  RawClient slow{server.port()};

  slow.send(std::string{kPreface} + frame(4, 0, 0, "") + frame(1, 0, 1, kPost));

  EXPECT_TRUE(eventually([&] { return server.counters.slow_heads == 1; }));
  EXPECT_TRUE(eventually([&] { return server.front.connections() == 0; }));
}

// RQ-9: frames other than requests do not keep a connection open.
TEST(FrontLimits, PingsDoNotKeepAnIdleConnectionOpen) {
  FrontUnderTest server{{.limits = {.idle_timeout = 40ms}}};
  RawClient pinging{server.port()};
  pinging.send(std::string{kPreface} + frame(4, 0, 0, ""));

  EXPECT_TRUE(eventually([&] {
    pinging.send(ping());
    return pinging.read_some().empty();
  }));
  EXPECT_EQ(server.counters.idle_connections, 1U);
}

// RQ-9: requests keep it open.
TEST(FrontLimits, RequestsKeepAConnectionOpen) {
  FrontUnderTest server{{.limits = {.idle_timeout = 400ms}}};
  RawClient busy{server.port()};
  const auto begin = std::chrono::steady_clock::now();

  do {
    busy.get("/x");
    ASSERT_EQ(busy.read_response().status, 200);
  } while (std::chrono::steady_clock::now() < begin + 1200ms);

  EXPECT_EQ(server.counters.idle_connections, 0U);
}

// RQ-12
TEST(FrontLimits, PeerThatDoesNotReadIsClosed) {
  FrontUnderTest server{{.limits = {.write_timeout = 40ms}}};
  server.handler.answer = [](const ServerRequest&) {
    return ServerResponse{.body = std::string(64 << 20, 'x')};
  };
  RawClient lazy{server.port()};

  lazy.get("/large");

  EXPECT_TRUE(eventually([&] { return server.counters.slow_readers == 1; }));
  EXPECT_TRUE(eventually([&] { return server.front.connections() == 0; }));
}

// RQ-12
TEST(FrontLimits, ConnectionsBeyondTheLimitGet503) {
  FrontUnderTest server{{.max_connections = 2}};
  std::vector<std::unique_ptr<RawClient>> open;
  for (int i = 0; i < 2; ++i) {
    open.push_back(std::make_unique<RawClient>(server.port()));
    open.back()->get("/x");
    ASSERT_EQ(open.back()->read_response().status, 200);
  }

  RawClient third{server.port()};
  third.get("/x");
  const RawResponse refused = third.read_response();
  Http2Client fourth{server.port()};
  const std::int32_t id = fourth.get("/x");
  fourth.run_until([&] { return fourth.stream(id).ended; });

  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  EXPECT_NE(refused.body.find("2 connections open"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find("--max-connections"), std::string::npos) << refused.body;
  EXPECT_EQ(third.read_some(), "");
  EXPECT_EQ(fourth.stream(id).headers.at(":status"), "503");
  EXPECT_EQ(server.counters.connections, 2U);
  EXPECT_EQ(server.handler.requests, 2);

  open.pop_back();
  EXPECT_TRUE(eventually([&] {
    RawClient next{server.port()};
    next.get("/x");
    return next.read_response().status == 200;
  }));
}

// RQ-12: far beyond the limit there is no response, and no state is kept.
TEST(FrontLimits, ManyConnectionsBeyondTheLimitAreClosedAtOnce) {
  FrontUnderTest server{{.max_connections = 1}};
  std::vector<std::unique_ptr<RawClient>> open;

  for (int i = 0; i < 300; ++i) open.push_back(std::make_unique<RawClient>(server.port()));

  EXPECT_TRUE(eventually([&] { return server.counters.connections >= 299; }));
  EXPECT_LE(server.front.connections(), 65U);
  EXPECT_EQ(open.back()->read_some(), "");
}

// RQ-12
TEST(FrontLimits, TooManyHeadersAreRefused) {
  FrontUnderTest server;
  RawClient fits{server.port()};
  RawClient refused{server.port()};
  const auto fields = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "X: y\r\n";
    return text;
  };

  fits.get("/x", fields(999));  // plus Host
  refused.get("/x", fields(1000));

  EXPECT_EQ(fits.read_response().status, 200);
  EXPECT_EQ(refused.read_response().status, 431);
  EXPECT_EQ(server.counters.large_heads, 1U);
}

// RQ-12
TEST(FrontLimits, TooManyHeadersInAStreamAreRefused) {
  FrontUnderTest server;
  RawClient client{server.port()};
  std::string head = kPost;
  for (int i = 0; i < 1001; ++i) head += std::string{"\x00\x01x\x01y", 5};

  client.send(std::string{kPreface} + frame(4, 0, 0, "") + frame(1, 5, 1, head));

  const std::string answer = client.read_until("431 Request Header Fields Too Large");
  EXPECT_NE(answer.find("431 Request"), std::string::npos);
  EXPECT_EQ(server.counters.large_heads, 1U);
  EXPECT_EQ(server.handler.requests, 0);
}

// RQ-13: opening and resetting streams costs the client nothing.
TEST(FrontLimits, ClientThatOnlyResetsStreamsIsDisconnected) {
  FrontUnderTest server;
  server.stream_script();
  RawClient client{server.port()};
  client.send(std::string{kPreface} + frame(4, 0, 0, ""));

  std::uint32_t stream = 1;
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 50; ++i, stream += 2) {
      client.send(frame(1, 5, stream, kPost) + frame(3, 0, stream, std::string{"\0\0\0\x08", 4}));
    }
    return client.readable(0ms) && client.read_some().empty();
  }));

  EXPECT_GE(stream / 2, 500U);
  EXPECT_EQ(server.counters.stream_resets, 1U);
  EXPECT_TRUE(eventually([&] { return server.front.connections() == 0; }));
}

}  // namespace
}  // namespace kube::testkit::detail
