// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over plain sockets: requests on the wire, and the handling of valid and invalid
// responses.
#include "helpers.hpp"

#include <fmt/format.h>

namespace kube::test {
namespace {

/// Returns the error of open() or read() when the server sends these bytes and closes.
Kind kind_after(const std::string& bytes, std::string* message = nullptr,
                TransportOptions options = {}) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write(bytes);
  }};
  options.base_url = server.url();
  const auto transport = make_http_transport(std::move(options));
  return kind_of([&] { read_all(*transport->open({.method = "POST"})); }, message);
}

TEST(Http1, SendsTheRequestAndReadsTheAnswer) {
  std::string head, body;
  ScriptedServer server{[&](Peer& peer) {
    head = peer.read_request();
    body = peer.body();
    peer.respond("201 Created", "made", "X-One: 1\r\nx-two:  2 \r\n");
  }};
  const auto transport = make_http_transport({.base_url = server.url() + "/prefix/"});

  const auto stream = transport->open({.method = "POST",
                                       .target = "/api/v1/pods?limit=5",
                                       .headers = {{"Content-Type", "application/json"}},
                                       .body = "{}"});

  EXPECT_EQ(stream->head().status, 201);
  EXPECT_EQ(*find_header(stream->head().headers, "X-ONE"), "1");
  EXPECT_EQ(*find_header(stream->head().headers, "X-Two"), "2");
  EXPECT_EQ(read_all(*stream), "made");
  EXPECT_TRUE(stream->read().empty());
  EXPECT_THAT(head, testing::StartsWith(fmt::format(
                        "POST /prefix/api/v1/pods?limit=5 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n",
                        server.port())));
  EXPECT_THAT(head, testing::HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(head, testing::HasSubstr("Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(body, "{}");
}

TEST(Http1, ReadsChunksAsTheyArrive) {
  Signal first_was_read;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one"));
    EXPECT_TRUE(first_was_read.wait());
    peer.write(chunk("two") + "0\r\nX-Trailer: 1\r\n\r\n");
    answer_ok(peer);
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  const auto stream = transport->open({});
  EXPECT_EQ(stream->read(), "one");
  first_was_read.set();
  EXPECT_EQ(stream->read(), "two");
  EXPECT_TRUE(stream->read().empty());

  const auto next = transport->open({});  // on the same connection
  EXPECT_EQ(read_all(*next), "ok");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Http1, ResponsesMayArriveByteByByte) {
  const std::string answer =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;name=value\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Trailer: 1\r\nX-Other: 2\r\n\r\n";
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    for (const char byte : answer) peer.write({&byte, 1});
    answer_ok(peer);
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(read_all(*transport->open({})), "abc0123456789");
  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Http1, BodiesWithoutLengthEndWithTheConnection) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.0 200 OK\r\n\r\nall of it");
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(read_all(*transport->open({})), "all of it");
}

TEST(Http1, ResponsesWithoutBodyEndAtOnce) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    (void)peer.read_request();
    peer.write("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(read_all(*transport->open({})), "");
  EXPECT_EQ(read_all(*transport->open({.method = "HEAD"})), "");
  EXPECT_EQ(read_all(*transport->open({})), "");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Http1, RedirectsAreReportedAndNotFollowed) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.respond("302 Found", "", "Location: /elsewhere\r\n");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  const auto stream = transport->open({});

  EXPECT_EQ(stream->head().status, 302);
  EXPECT_EQ(*find_header(stream->head().headers, "location"), "/elsewhere");
  EXPECT_EQ(read_all(*stream), "");
}

TEST(Http1, TruncatedResponsesAreConnectionLost) {
  std::string message;
  EXPECT_EQ(kind_after("", &message), Kind::kConnectionLost);
  EXPECT_THAT(message, testing::HasSubstr("before it answered"));
  EXPECT_EQ(kind_after("HTTP/1.1 200 OK\r\nX-A", &message), Kind::kConnectionLost);
  EXPECT_THAT(message, testing::HasSubstr("middle of the headers"));
  EXPECT_EQ(kind_after("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", &message),
            Kind::kConnectionLost);
  EXPECT_THAT(message, testing::HasSubstr("middle of the body"));
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(kind_after(chunked + "5\r\nab"), Kind::kConnectionLost);
  EXPECT_EQ(kind_after(chunked + chunk("ab")), Kind::kConnectionLost);
  EXPECT_EQ(kind_after(chunked + chunk("ab") + "0\r\n"), Kind::kConnectionLost);
}

TEST(Http1, BytesBeforeATruncationAreDelivered) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
  }};
  const auto transport = make_http_transport({.base_url = server.url()});
  const auto stream = transport->open({});
  ASSERT_TRUE(eventually([&] { return server.open() == 0; }));

  std::string all;
  EXPECT_EQ(kind_of([&] {
              while (true) all += stream->read();
            }),
            Kind::kConnectionLost);
  EXPECT_EQ(all, "abc");
}

TEST(Http1, ResetConnectionsAreLost) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
    peer.reset();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(kind_of([&] { read_all(*transport->open({.method = "POST"})); }),
            Kind::kConnectionLost);
}

TEST(Http1, DataThatIsNotHttpIsRefused) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& bytes : {
           std::string{"SSH-2.0-OpenSSH_9.2\r\n"},
           std::string{"HTTP/2.0 200 OK\r\n\r\n"},
           std::string{"HTTP/1.1 20x OK\r\n\r\n"},
           std::string{"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"},
           std::string{"HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n"},
           std::string{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
           std::string{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"},
           std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: brotli\r\n\r\n"},
           std::string{"HTTP/1.1 101 Switching Protocols\r\n\r\n"},
           chunked + "xyz\r\n",
           chunked + "2\r\nabc\r\n",
           chunked + "fffffffffffffffffffff\r\n",
           chunked + std::string(5000, '0') + "\r\n",
       }) {
    EXPECT_EQ(kind_after(bytes), Kind::kProtocol) << bytes.substr(0, 100);
  }
}

TEST(Http1, EnormousHeadersAreRefused) {
  std::string message;
  const std::string head = "HTTP/1.1 200 OK\r\nX-Large: " + std::string(2000, 'x');
  EXPECT_EQ(
      kind_after(head + "\r\nContent-Length: 0\r\n\r\n", &message, {.max_header_bytes = 1000}),
      Kind::kProtocol);
  EXPECT_THAT(message, testing::HasSubstr("1000 bytes"));
  EXPECT_EQ(kind_after(head, nullptr, {.max_header_bytes = 1000}),
            Kind::kProtocol);  // no end at all
}

// RC-22
TEST(Http1, GzipIsDecodedMemberByMemberAsItArrives) {
  Signal first_was_read;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" +
               chunk(gzip("one event\n")));
    EXPECT_TRUE(first_was_read.wait());
    const std::string second = gzip(std::string(100'000, 'x'));
    peer.write(chunk(second.substr(0, 5)) + chunk(second.substr(5) + gzip("end")) + "0\r\n\r\n");
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  const auto stream = transport->open({});
  EXPECT_EQ(stream->read(), "one event\n");
  EXPECT_EQ(find_header(stream->head().headers, "Content-Encoding"), nullptr);
  first_was_read.set();
  EXPECT_EQ(read_all(*stream), std::string(100'000, 'x') + "end");
}

TEST(Http1, DamagedGzipIsRefused) {
  const auto answer = [](const std::string& body) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Encoding: gzip\r\n\r\n{}",
                       body.size(), body);
  };
  EXPECT_EQ(kind_after(answer("this is no gzip")), Kind::kProtocol);
  EXPECT_EQ(kind_after(answer(gzip("text") + "garbage behind")), Kind::kProtocol);
  std::string damaged = gzip("some text that is damaged");
  damaged[damaged.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(kind_after(answer(damaged)), Kind::kProtocol);
  const std::string whole = gzip("some text");
  EXPECT_EQ(kind_after(answer(whole.substr(0, whole.size() - 4))), Kind::kProtocol);
}

TEST(Http1, CompressionCanBeDisabled) {
  std::string head;
  ScriptedServer server{[&](Peer& peer) {
    head = peer.read_request();
    peer.respond("200 OK", "ok");
  }};
  const auto transport =
      make_http_transport({.base_url = server.url(), .disable_compression = true});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_THAT(head, testing::Not(testing::HasSubstr("Accept-Encoding")));
}

TEST(Http1, AGetIsSentAgainWhenAnIdleConnectionTurnsOutToBeClosed) {
  std::atomic<int> requests = 0;
  ScriptedServer server{[&](Peer& peer) {
    if (peer.read_request().empty()) return;
    ++requests;
    peer.respond("200 OK", "first");
    if (peer.read_request().empty()) return;
    ++requests;  // closes without a response
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(read_all(*transport->open({})), "first");
  EXPECT_EQ(read_all(*transport->open({})), "first");
  EXPECT_EQ(requests, 3);
  // RC-15: a write is not repeated.
  EXPECT_EQ(kind_of([&] { (void)transport->open({.method = "POST"}); }), Kind::kConnectionLost);
  EXPECT_EQ(requests, 4);
}

TEST(Http1, LanesDoNotShareConnections) {
  ScriptedServer server{answer_ok};
  const auto transport = make_http_transport({.base_url = server.url()});

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read_all(*transport->open({.lane = Lane::kRequests})), "ok");
    EXPECT_EQ(read_all(*transport->open({.lane = Lane::kWatches})), "ok");
  }

  EXPECT_EQ(server.accepted(), 2);
}

TEST(Http1, UnreadResponseClosesTheConnection) {
  ScriptedServer server{[](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  { const auto stream = transport->open({}); }

  EXPECT_TRUE(eventually([&] { return server.open() == 0; }));
}

// RC-19
TEST(Http1, IdleConnectionsAreLimitedAndClosed) {
  Signal go;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    EXPECT_TRUE(go.wait());
    peer.respond("200 OK", "ok");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport(
      {.base_url = server.url(), .idle_connection_timeout = 300ms, .max_idle_connections = 2});

  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(read_all(*transport->open({})), "ok"); });
  }
  ASSERT_TRUE(eventually([&] { return server.open() == 5; }));
  go.set();
  threads.clear();

  EXPECT_TRUE(eventually([&] { return server.open() <= 2; }));
  EXPECT_TRUE(eventually([&] { return server.open() == 0; }));
}

TEST(Http1, RequestSmugglingIsRefused) {
  const auto transport = make_http_transport({.base_url = "http://127.0.0.1:1"});

  EXPECT_THROW((void)transport->open({.method = "GET /x HTTP/1.1\r\n\r\n"}), std::invalid_argument);
  EXPECT_THROW((void)transport->open({.target = "/a b"}), std::invalid_argument);
  EXPECT_THROW((void)transport->open({.target = "no-slash"}), std::invalid_argument);
  EXPECT_THROW((void)transport->open({.headers = {{"A", "b\r\nC: d"}}}), std::invalid_argument);
  EXPECT_THROW((void)transport->open({.headers = {{"A\nB", "c"}}}), std::invalid_argument);
}

TEST(Http1, LargeBodiesAreSent) {
  const std::string body(10'000'000, 'b');
  std::size_t received = 0;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    received = peer.body().size();
    peer.respond("200 OK", "ok");
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  EXPECT_EQ(read_all(*transport->open({.method = "PUT", .body = body})), "ok");
  EXPECT_EQ(received, body.size());
}

}  // namespace
}  // namespace kube::test
