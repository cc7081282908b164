// SPDX-License-Identifier: Apache-2.0
#include "http_server.hpp"

#include "http_client.hpp"
#include "http_request.hpp"
#include "unit/engine/helpers.hpp"

#include <kube/base/metrics.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kube::detail {
namespace {

using namespace std::chrono_literals;
using test::http_get;
using test::RawConnection;

HttpServerOptions loopback(Clock& clock = system_clock()) {
  HttpServerOptions options{.address = "127.0.0.1:0"};
  options.clock = &clock;
  return options;
}
HttpReply echo(std::string_view path, std::string_view query) {
  if (path == "/throws") throw std::runtime_error{"secret"};
  return {.body = std::string{path} + '?' + std::string{query}};
}

TEST(HttpServer, AnswersGetAndHead) {
  const HttpServer server{loopback(), echo};
  const auto get = http_get(server.address(), "/a/b?c=d&e");
  EXPECT_EQ(get.status, 200);
  EXPECT_EQ(get.body, "/a/b?c=d&e");
  EXPECT_NE(get.head.find("Content-Length: 10"), std::string::npos);
  const auto head = http_get(server.address(), "/a/b?c=d&e", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.head.find("Content-Length: 10"), std::string::npos);
  const auto post = http_get(server.address(), "/", "POST");
  EXPECT_EQ(post.status, 405);
  EXPECT_NE(post.head.find("Allow: GET, HEAD"), std::string::npos);
  const auto broken = http_get(server.address(), "/throws");
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(broken.body.find("secret"), std::string::npos);
}

TEST(HttpServer, RejectsMalformedRequests) {
  const HttpServer server{loopback(), echo};
  const auto answer_to = [&](const std::string& text) {
    const RawConnection connection{server.address()};
    connection.send(text);
    return test::parse_answer(connection.read()).status;
  };
  EXPECT_EQ(answer_to("hello\r\n\r\n"), 400);
  EXPECT_EQ(answer_to("GET /a b HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(answer_to("GET  HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(answer_to("GET http://elsewhere/ HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(answer_to("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x')), 431);
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nX: " + std::string(9000, 'x') + "\r\n\r\n"), 431);
  // An unexpected body does not prevent the response.
  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\nunwanted!"), 200);
  EXPECT_EQ(http_get(server.address(), "/").status, 200);
}

// Requests may arrive byte by byte.
TEST(HttpServer, AssemblesRequestsFromPieces) {
  const HttpServer server{loopback(), echo};
  const RawConnection connection{server.address()};
  for (const char c : std::string{"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    connection.send(std::string(1, c));
  }
  EXPECT_EQ(test::parse_answer(connection.read()).body, "/slow?");
}

TEST(HttpServer, DoesNotWaitForSlowClients) {
  testkit::FakeClock clock;
  Metrics metrics;
  HttpServerOptions options = loopback(clock);
  options.slow = metrics.counter("slow", "");
  const HttpServer server{std::move(options), echo};
  const RawConnection silent{server.address()};
  const RawConnection half{server.address()};
  half.send("GET / HT");
  EXPECT_EQ(http_get(server.address(), "/").status, 200);

  clock.advance(10s);
  EXPECT_EQ(silent.read(), "");
  const auto refused = test::parse_answer(half.read());
  EXPECT_EQ(refused.status, 408);
  EXPECT_EQ(refused.body, "the request did not arrive in time\n");
  EXPECT_EQ(metrics.counter("slow", "").value(), 2U);
}

// Slow bytes do not extend the deadline.
TEST(HttpServer, RefusesAHeadThatComesByteByByte) {
  testkit::FakeClock clock;
  const HttpServer server{loopback(clock), echo};
  const RawConnection dripping{server.address()};
  dripping.send("GET / HTTP/1.1\r\nX-Slow: ");
  ASSERT_EQ(http_get(server.address(), "/").status, 200);  // by now the first one is accepted

  for (int second = 0; second < 10; ++second) {
    dripping.send("x");
    clock.advance(1s);
  }

  EXPECT_EQ(test::parse_answer(dripping.read()).status, 408);
}

// A client that does not read a large response blocks neither the server nor others.
TEST(HttpServer, DoesNotWaitForClientsThatDoNotRead) {
  testkit::FakeClock clock;
  const HttpServer server{
      loopback(clock), [](std::string_view path, std::string_view) {
        return HttpReply{.body = std::string(path == "/big" ? 32 << 20 : 1, 'x')};
      }};
  const RawConnection lazy{server.address()};
  lazy.send("GET /big HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http_get(server.address(), "/").status, 200);
  clock.advance(10s);
  EXPECT_EQ(http_get(server.address(), "/").status, 200);
  EXPECT_LT(lazy.read().size(), std::size_t{32} << 20);
  EXPECT_EQ(http_get(server.address(), "/big").body.size(), std::size_t{32} << 20);
}

TEST(HttpServer, ReplacesTheOldestConnectionWhenThereAreTooMany) {
  testkit::FakeClock clock;
  Metrics metrics;
  HttpServerOptions options = loopback(clock);
  options.crowded = metrics.counter("crowded", "");
  const HttpServer server{std::move(options), echo};
  const RawConnection asking{server.address()};
  asking.send("GET / HT");
  ASSERT_EQ(http_get(server.address(), "/").status, 200);
  std::vector<std::unique_ptr<RawConnection>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<RawConnection>(server.address()));
  }
  EXPECT_EQ(http_get(server.address(), "/").status, 200);
  EXPECT_EQ(test::parse_answer(asking.read()).status, 503);
  EXPECT_EQ(idle.front()->read(), "");
  EXPECT_GE(metrics.counter("crowded", "").value(), 137U);
  idle.back()->send("GET /last HTTP/1.1\r\n\r\n");
  EXPECT_EQ(test::parse_answer(idle.back()->read()).body, "/last?");
}

// RT-16: health is answered while all workers are blocked in handlers, also at their limit.
TEST(HttpServer, AnswersWhileAllHandlersBlock) {
  HttpServerOptions options = loopback();
  options.runtime =
      std::make_shared<Runtime>(RuntimeOptions{.threads = 2, .max_threads = 3, .log = Logger{}});
  test::Gate gate;
  test::Counter blocked;
  std::vector<std::shared_ptr<test::FunctionJob>> handlers;
  for (int i = 0; i < 5; ++i) {
    handlers.push_back(test::make_job(*options.runtime, Placement::kBlocking, [&] {
      blocked.add();
      gate.pass();
    }));
    handlers.back()->schedule();
  }
  const HttpServer server{std::move(options), echo};
  ASSERT_TRUE(blocked.reaches(3));

  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(http_get(server.address(), "/healthz").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  gate.open();
  EXPECT_TRUE(blocked.reaches(5));
}

// RT-16: an answer has a deadline, and others do not wait for it.
TEST(HttpServer, DoesNotWaitForAnAnswerThatTakesTooLong) {
  testkit::FakeClock clock;
  test::Gate gate;
  test::Counter asked;
  auto server = std::make_unique<HttpServer>(
      loopback(clock), [&](std::string_view path, std::string_view) -> HttpReply {
        asked.add();
        if (path == "/stuck") gate.pass();
        return {.body = "here"};
      });
  std::vector<std::unique_ptr<RawConnection>> stuck;
  for (int i = 0; i < 10; ++i) {
    stuck.push_back(std::make_unique<RawConnection>(server->address()));
    stuck.back()->send("GET /stuck HTTP/1.1\r\n\r\n");
  }
  ASSERT_TRUE(asked.reaches(10));
  EXPECT_EQ(http_get(server->address(), "/other").body, "here");

  clock.advance(10s);
  for (const auto& connection : stuck) {
    EXPECT_EQ(test::parse_answer(connection->read()).status, 503);
  }
  gate.open();
  server.reset();  // waits until the answers have returned
  EXPECT_EQ(asked.value(), 11);
}

TEST(HttpServer, EndsWithOpenConnections) {
  auto server = std::make_unique<HttpServer>(loopback(), echo);
  const std::string address = server->address();
  const RawConnection idle{address};
  server.reset();
  EXPECT_EQ(idle.read(), "");
  EXPECT_EQ(http_get(address, "/").status, 0);
}

TEST(HttpServer, NamesTheAddressThatItCannotUse) {
  const auto refused = [](const std::string& address) {
    try {
      const HttpServer server{{.address = address}, echo};
      return std::string{"listens"};
    } catch (const Error& error) {
      return std::string{error.what()};
    }
  };
  const HttpServer server{loopback(), echo};
  for (const std::string& address :
       {server.address(), std::string{"8080"}, std::string{"127.0.0.1:"}, std::string{"::1:80"},
        std::string{"127.0.0.1:http-or-so"}, std::string{"no.such.host.invalid:80"}}) {
    EXPECT_NE(refused(address).find("cannot listen on \"" + address + '"'), std::string::npos)
        << refused(address);
  }
}

// ":99999" used to listen on another port, the number modulo 65536.
TEST(HttpServer, RejectsInvalidPorts) {
  for (const std::string address :
       {":99999", ":65536", "127.0.0.1:-1", "127.0.0.1:+80", ":0x50", ": 80", "127.0.0.1:80 ",
        ":http", ":", ":000000", "[::1]", "127.0.0.1:4294967376", "\x1b:1x"}) {
    try {
      const HttpServer server{{.address = address}, echo};
      FAIL() << address << " listens on " << server.address();
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("cannot listen on "), std::string::npos) << message;
      EXPECT_NE(message.find("127.0.0.1:8080"), std::string::npos) << message;
      EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
    }
  }
  try {
    static_cast<void>(parse_listen_address("127.0.0.1:65536"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "cannot listen on \"127.0.0.1:65536\": the port is not a number from 0 to 65535; "
                 "write <host>:<port>, for example 127.0.0.1:8080, [::1]:8080 or :8080 for all "
                 "addresses");
  }
  EXPECT_EQ(parse_listen_address("[::1]:65535").port, "65535");
}

TEST(HttpServer, TakesNoControlCharactersIntoTheTarget) {
  const HttpServer server{loopback(), echo};
  EXPECT_EQ(http_get(server.address(), "/a\x1b[2J").status, 400);
  EXPECT_EQ(http_get(server.address(), "/\xff").status, 400);
}

TEST(HttpServer, ReadsQueries) {
  using Query = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query(""), Query{});
  EXPECT_EQ(parse_query("a&b=&c=d=e&&f%20g=h+i%2"),
            (Query{{"a", ""}, {"b", ""}, {"c", "d=e"}, {"f g", "h i%2"}}));
}

}  // namespace
}  // namespace kube::detail
