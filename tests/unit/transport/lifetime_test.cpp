// SPDX-License-Identifier: Apache-2.0
// Lifetime: cancellation at any time, timeouts, destruction, and absence of leaks.
#include "helpers.hpp"

#include <kube/engine/runtime.hpp>

namespace kube::test {
namespace {

TEST(Cancellation, EndsAnAttemptToConnect) {
  const DeafPort port;
  const auto transport = make_http_transport({.base_url = port.url()});
  std::stop_source stop;
  const long files = entries("/proc/self/fd");
  std::jthread stopper{[&] {
    EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") > files; }));  // its socket exists
    stop.request_stop();
  }};

  EXPECT_EQ(kind_of([&] { (void)transport->open({}, stop.get_token()); }), Kind::kCanceled);
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") == files; }));
}

TEST(Cancellation, EndsTheWaitForAHead) {
  Signal asked;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    asked.set();
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});
  std::stop_source stop;
  std::jthread stopper{[&] {
    EXPECT_TRUE(asked.wait());
    stop.request_stop();
  }};

  EXPECT_EQ(kind_of([&] { (void)transport->open({}, stop.get_token()); }), Kind::kCanceled);
  EXPECT_TRUE(eventually([&] { return server.open() == 0; }));
}

TEST(Cancellation, EndsAReadFromAnotherThread) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  const auto stream = transport->open({});
  EXPECT_EQ(stream->read(), "some");
  std::jthread canceler{[&] { stream->cancel(); }};
  EXPECT_EQ(kind_of([&] { (void)stream->read(); }), Kind::kCanceled);
  EXPECT_EQ(kind_of([&] { (void)stream->read(); }), Kind::kCanceled);  // and every later one
  EXPECT_TRUE(eventually([&] { return server.open() == 0; }));
}

TEST(Cancellation, AStopEndsARead) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});
  const auto stream = transport->open({});
  std::stop_source stop;
  std::jthread stopper{[&] { stop.request_stop(); }};

  EXPECT_EQ(kind_of([&] { (void)stream->read(stop.get_token()); }), Kind::kCanceled);
}

TEST(Cancellation, BeforeTheBeginningNothingIsSent) {
  ScriptedServer server{answer_ok};
  const auto transport = make_http_transport({.base_url = server.url()});
  std::stop_source stop;
  stop.request_stop();

  EXPECT_EQ(kind_of([&] { (void)transport->open({}, stop.get_token()); }), Kind::kCanceled);
  EXPECT_EQ(server.accepted(), 0);
}

// HTTP/2: only the stream is reset; the connection stays.
TEST(Cancellation, ResetsOnlyItsStream) {
  const TestAuthority authority;
  const auto body = std::make_shared<Http2Body>();
  Http2Server server{authority.issue_server(), [&](const Http2Request& request) {
                       Http2Reply reply;
                       if (request.headers.at(":path") == "/watch") {
                         reply.body = body;
                       } else {
                         reply.body->end();
                       }
                       return reply;
                     }};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});
  const auto watch = transport->open({.target = "/watch"});

  watch->cancel();

  EXPECT_TRUE(body->wait_closed());
  EXPECT_EQ(read_all(*transport->open({})), "");
  EXPECT_EQ(server.accepted(), 1);
}

TEST(Timeout, OfTheRequestCoversHeadAndBody) {
  ScriptedServer server{[&](Peer& peer) {
    const std::string head = peer.read_request();
    if (head.find("/head") != std::string::npos) {
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
    }
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});

  std::string message;
  EXPECT_EQ(kind_of([&] { (void)transport->open({.timeout = 50ms}); }, &message), Kind::kTimeout);
  EXPECT_THAT(message, testing::HasSubstr("50 ms"));
  EXPECT_EQ(
      kind_of([&] { read_all(*transport->open({.target = "/head", .timeout = 300ms})); }, &message),
      Kind::kTimeout);
  EXPECT_THAT(message, testing::HasSubstr("end of the answer"));
}

TEST(Timeout, OfIdlenessIsPutOffByEachByte) {
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    for (int i = 0; i < 5; ++i) {  // longer than the limit in total, but never at once
      peer.write("x");
      if (peer.ends_within(200ms)) return;
    }
    peer.wait_for_end();
  }};
  const auto transport = make_http_transport({.base_url = server.url()});
  const auto stream = transport->open({.idle_timeout = 700ms});

  std::string all;
  EXPECT_EQ(kind_of([&] {
              while (true) all += stream->read();
            }),
            Kind::kTimeout);
  EXPECT_EQ(all, "xxxxx");
}

TEST(Timeout, OfConnectingAndOfTheHandshake) {
  const DeafPort port;
  std::string message;
  {
    const auto transport = make_http_transport({.base_url = port.url(), .connect_timeout = 50ms});
    EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kConnect);
    EXPECT_THAT(message, testing::HasSubstr("no connection within 50 ms"));
  }
  ScriptedServer server{[](Peer& peer) { peer.wait_for_end(); }};
  std::string url = server.url();
  url.replace(0, 4, "https");
  const auto transport = make_http_transport({.base_url = url, .tls_handshake_timeout = 50ms});
  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kConnect);
  EXPECT_THAT(message, testing::HasSubstr("TLS handshake within 50 ms"));
}

TEST(Connecting, FailuresAreNamed) {
  std::string message;
  int port = 0;
  {
    ScriptedServer server{answer_ok};
    port = server.port();
  }
  const auto refused =
      make_http_transport({.base_url = "http://127.0.0.1:" + std::to_string(port)});
  EXPECT_EQ(kind_of([&] { (void)refused->open({}); }, &message), Kind::kConnect);
  EXPECT_THAT(message, testing::HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(message, testing::HasSubstr("the connection was refused"));
  const auto unknown = make_http_transport({.base_url = "https://no-such-host.invalid:6443"});
  EXPECT_EQ(kind_of([&] { (void)unknown->open({}); }, &message), Kind::kResolve);
  EXPECT_THAT(message, testing::HasSubstr("no-such-host.invalid"));
}

TEST(Connecting, InvalidAddressesAreRefused) {
  std::string message;
  for (const char* url : {"", "ftp://host", "https://", "https://a b"}) {
    EXPECT_EQ(kind_of([&] { (void)make_http_transport({.base_url = url}); }, &message),
              Kind::kProtocol)
        << url;
  }
  EXPECT_EQ(kind_of(
                [&] {
                  (void)make_http_transport(
                      {.base_url = "https://host", .proxy_url = "ftp://me:secret@proxy"});
                },
                &message),
            Kind::kProtocol);
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("secret")));
}

TEST(Destruction, CancelsEverythingAndLeavesNothing) {
  const TestAuthority authority;
  Http2Server server{authority.issue_server(), [](const Http2Request& request) {
                       Http2Reply reply;
                       if (request.headers.at(":path") == "/silent") reply.body = nullptr;
                       return reply;
                     }};
  {
    // Allocations that libraries never free are made the first time.
    const auto transport =
        make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});
    (void)transport->open({});
  }
  ASSERT_TRUE(eventually([&] { return server.open() == 0; }));
  const long files = entries("/proc/self/fd");
  const long threads = entries("/proc/self/task");

  for (int i = 0; i < 10; ++i) {
    auto transport =
        make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});
    const auto stream = transport->open({});
    const auto watch = transport->open({.lane = Lane::kWatches});
    std::jthread reader{[&] { EXPECT_EQ(kind_of([&] { (void)watch->read(); }), Kind::kCanceled); }};
    transport.reset();
    EXPECT_EQ(kind_of([&] { (void)stream->read(); }), Kind::kCanceled);
  }

  EXPECT_TRUE(eventually([&] { return server.open() == 0; }));
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") == files; }));
  EXPECT_TRUE(eventually([&] { return entries("/proc/self/task") <= threads; }));
}

// RT-7: a job of the transport, which its loop may release last, kept a reference to the Runtime.
// The threads of the Runtime then ended by themselves, after its owner had gone on.
TEST(Destruction, LeavesNoReferenceToTheRuntime) {
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 1});
  ScriptedServer server{answer_ok};
  for (int i = 0; i < 20; ++i) {
    auto transport = make_http_transport({.base_url = server.url(), .runtime = runtime});
    (void)transport->open({});
    transport.reset();
    ASSERT_EQ(runtime.use_count(), 1) << i;
  }
}

TEST(Destruction, ManyThreadsMayRequestAndCancelConcurrently) {
  const TestAuthority authority;
  Http2Server server{authority.issue_server(), [](const Http2Request&) {
                       Http2Reply reply;
                       reply.filler = 100'000;
                       return reply;
                     }};
  const auto transport =
      make_http_transport({.base_url = server.url(), .credentials = trusting(authority)});

  std::atomic<int> whole = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i) {
          const auto stream =
              transport->open({.lane = i % 2 == 0 ? Lane::kRequests : Lane::kWatches});
          if ((i + t) % 3 == 0) {
            stream->cancel();
          } else if ((i + t) % 3 == 1) {
            whole += read_all(*stream).size() == 100'000;
          }
        }
      });
    }
  }
  EXPECT_EQ(whole, 8 * 25 / 3 + 1);
}

TEST(Report, DescribesTheOutcomeOfEachExchange) {
  ScriptedServer server{[](Peer& peer) {
    (void)peer.read_request();
    peer.respond("200 OK", "four");
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
  }};
  std::mutex mutex;
  std::vector<ExchangeReport> reports;
  const auto transport = make_http_transport(
      {.base_url = server.url(), .on_exchange = [&](const ExchangeReport& report) {
         const std::lock_guard lock{mutex};
         reports.push_back(report);
         throw std::runtime_error("is swallowed");
       }});

  EXPECT_EQ(read_all(*transport->open({.method = "POST", .body = "sent"})), "four");
  EXPECT_EQ(kind_of([&] { read_all(*transport->open({})); }), Kind::kConnectionLost);

  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock{mutex};
    return reports.size() == 2;
  }));
  EXPECT_EQ(reports[0].method, "POST");
  EXPECT_EQ("http://" + reports[0].host, server.url());
  EXPECT_EQ(reports[0].status, 200);
  EXPECT_FALSE(reports[0].error);
  EXPECT_EQ(reports[0].bytes_sent, 4U);
  EXPECT_EQ(reports[0].bytes_received, 4U);
  EXPECT_GT(reports[0].until_head.count(), 0);
  EXPECT_GE(reports[0].total, reports[0].until_head);
  EXPECT_TRUE(reports[0].connected);
  EXPECT_EQ(reports[1].error, Kind::kConnectionLost);
  EXPECT_EQ(reports[1].bytes_received, 3U);
  EXPECT_FALSE(reports[1].connected);
}

}  // namespace
}  // namespace kube::test
