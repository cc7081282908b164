// SPDX-License-Identifier: Apache-2.0
#include "endpoint.hpp"

#include "http_client.hpp"
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

EndpointOptions loopback(Clock& clock = system_clock()) {
  EndpointOptions options{.address = "127.0.0.1:0"};
  options.clock = &clock;
  return options;
}
HttpReply echo(std::string_view path, std::string_view query) {
  if (path == "/throws") throw std::runtime_error{"secret"};
  return {.body = std::string{path} + '?' + std::string{query}};
}

TEST(Endpoint, AnswersGetAndHead) {
  const Endpoint server{loopback(), echo};
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

TEST(Endpoint, RejectsMalformedRequests) {
  const Endpoint server{loopback(), echo};
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
TEST(Endpoint, AssemblesRequestsFromPieces) {
  const Endpoint server{loopback(), echo};
  const RawConnection connection{server.address()};
  for (const char c : std::string{"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    connection.send(std::string(1, c));
  }
  EXPECT_EQ(test::parse_answer(connection.read()).body, "/slow?");
}

TEST(Endpoint, DoesNotWaitForSlowClients) {
  testkit::FakeClock clock;
  Metrics metrics;
  EndpointOptions options = loopback(clock);
  options.slow = metrics.counter("slow", "");
  const Endpoint server{std::move(options), echo};
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
TEST(Endpoint, RefusesAHeadThatComesByteByByte) {
  testkit::FakeClock clock;
  const Endpoint server{loopback(clock), echo};
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
TEST(Endpoint, DoesNotWaitForClientsThatDoNotRead) {
  testkit::FakeClock clock;
  const Endpoint server{
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

TEST(Endpoint, ReplacesTheOldestConnectionWhenThereAreTooMany) {
  testkit::FakeClock clock;
  Metrics metrics;
  EndpointOptions options = loopback(clock);
  options.crowded = metrics.counter("crowded", "");
  const Endpoint server{std::move(options), echo};
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
TEST(Endpoint, AnswersWhileAllHandlersBlock) {
  EndpointOptions options = loopback();
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
  const Endpoint server{std::move(options), echo};
  ASSERT_TRUE(blocked.reaches(3));

  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(http_get(server.address(), "/healthz").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  gate.open();
  EXPECT_TRUE(blocked.reaches(5));
}

// RT-16: an answer has a deadline, and others do not wait for it.
TEST(Endpoint, DoesNotWaitForAnAnswerThatTakesTooLong) {
  testkit::FakeClock clock;
  test::Gate gate;
  test::Counter asked;
  auto server = std::make_unique<Endpoint>(
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

TEST(Endpoint, EndsWithOpenConnections) {
  auto server = std::make_unique<Endpoint>(loopback(), echo);
  const std::string address = server->address();
  const RawConnection idle{address};
  server.reset();
  EXPECT_EQ(idle.read(), "");
  EXPECT_EQ(http_get(address, "/").status, 0);
}

TEST(Endpoint, TakesNoControlCharactersIntoTheTarget) {
  const Endpoint server{loopback(), echo};
  EXPECT_EQ(http_get(server.address(), "/a\x1b[2J").status, 400);
  EXPECT_EQ(http_get(server.address(), "/\xff").status, 400);
}

}  // namespace
}  // namespace kube::detail
