// SPDX-License-Identifier: Apache-2.0
#include "front_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <string>

namespace kube::testkit::detail {
namespace {

using namespace std::chrono_literals;

TEST(Http1, AnswersSeveralRequestsOnOneConnection) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.get("/one");
  const RawResponse first = client.read_response();
  client.post("/two", "body");
  const RawResponse second = client.read_response();

  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "GET /one ");
  EXPECT_EQ(second.body, "POST /two body");
  EXPECT_EQ(server.front.connections(), 1U);
}

TEST(Http1, AnswersPipelinedRequestsInTheirOrder) {
  FrontUnderTest server;
  RawClient client{server.port()};
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += fmt::format("GET /{} HTTP/1.1\r\nHost: test\r\n\r\n", i);
  }

  client.send(requests);

  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read_response().body, fmt::format("GET /{} ", i));
}

TEST(Http1, ParsesARequestSentByteByByte) {
  FrontUnderTest server;
  RawClient client{server.port()};

  for (const char c : std::string{"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"}) {
    client.send({&c, 1});
  }

  EXPECT_EQ(client.read_response().body, "POST /x abc");
}

TEST(Http1, ReadsChunkedBodies) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.send(
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");

  EXPECT_EQ(client.read_response().body, "POST /x abcde");
}

TEST(Http1, SendsContinueWhenExpected) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");

  EXPECT_EQ(client.read_response().body, "POST /x abc");
}

TEST(Http1, SendsNoBodyForHead) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawResponse head = client.read_head();
  client.get("/next");

  EXPECT_EQ(head.headers.at("content-length"), "8");
  EXPECT_EQ(client.read_response().body, "GET /next ");
}

TEST(Http1, ClosesOnRequest) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.get("/x", "Connection: close\r\n");
  const RawResponse response = client.read_response();

  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(client.read_some(), "");
}

// RQ-7
TEST(Http1, RefusesBodiesAboveTheLimit) {
  FrontUnderTest server;
  RawClient fits{server.port()};
  RawClient too_large{server.port()};
  RawClient chunked{server.port()};

  fits.post("/x", std::string(3145728, 'x'));
  too_large.post("/x", std::string(3145729, 'x'));
  chunked.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n300001\r\n" +
               std::string(3145729, 'x') + "\r\n0\r\n\r\n");

  EXPECT_EQ(fits.read_response().status, 200);
  const RawResponse refused = too_large.read_response();
  EXPECT_EQ(refused.status, 413);
  EXPECT_NE(refused.body.find(R"("message":"Request entity too large: limit is 3145728")"),
            std::string::npos);
  EXPECT_EQ(chunked.read_response().status, 413);
  EXPECT_EQ(server.handler.requests, 1);
}

// RQ-7
TEST(Http1, RefusesHeadersAboveTheLimit) {
  FrontUnderTest server;
  RawClient fits{server.port()};
  RawClient too_large{server.port()};

  fits.get("/x", "X-Long: " + std::string(1000000, 'x') + "\r\n");
  too_large.get("/x", "X-Long: " + std::string(1100000, 'x') + "\r\n");

  EXPECT_EQ(fits.read_response().status, 200);
  const RawResponse refused = too_large.read_response();
  EXPECT_EQ(refused.status, 431);
  EXPECT_EQ(refused.headers.at("content-type"), "text/plain; charset=utf-8");
}

TEST(Http1, AnswersMalformedRequestsWithBadRequest) {
  FrontUnderTest server;
  for (const std::string nonsense :
       {"\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET relative HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"}) {
    RawClient client{server.port()};
    client.send(nonsense);
    EXPECT_EQ(client.read_response().status, 400) << nonsense;
    EXPECT_EQ(client.read_some(), "");
  }

  RawClient client{server.port()};
  client.get("/x");
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(Http1, ReportsExceptionsOfTheHandler) {
  FrontUnderTest server;
  server.handler.answer = [](const ServerRequest&) -> ServerResponse {
    throw std::runtime_error("broken");
  };
  RawClient client{server.port()};

  client.get("/x");

  EXPECT_EQ(client.read_response().status, 500);
}

TEST(Http1, PreventsResponseSplitting) {
  FrontUnderTest server;
  server.handler.answer = [](const ServerRequest&) {
    return ServerResponse{.headers = {{"Warning", "a\r\nX-Evil: b"}}};
  };
  RawClient client{server.port()};

  client.get("/x");

  EXPECT_FALSE(client.read_response().headers.contains("x-evil"));
}

// WT-1
TEST(Http1, StreamsFramesImmediatelyAfterTheHead) {
  FrontUnderTest server;
  server.stream_script();
  RawClient client{server.port()};

  client.get("/watch");
  const RawResponse head = client.read_head();
  EXPECT_EQ(head.headers.at("transfer-encoding"), "chunked");
  server.script.push("one\n");
  EXPECT_EQ(client.read_chunk(), "one\n");
  server.script.push("two\n");
  EXPECT_EQ(client.read_chunk(), "two\n");
  server.script.end();
  EXPECT_EQ(client.read_chunk(), "");
  server.handler.answer = [](const ServerRequest&) { return ServerResponse{.body = "after"}; };
  client.get("/next");
  EXPECT_EQ(client.read_response().body, "after");
}

// WT-23
TEST(Http1, SendsAvailableFramesInOneWrite) {
  FrontUnderTest server;
  server.stream_script();
  for (int i = 0; i < 10; ++i) server.script.push("frame\n");
  RawClient client{server.port()};

  client.get("/watch");
  (void)client.read_head();

  EXPECT_EQ(client.read_chunk().size(), 60U);
}

TEST(Http1, DoesNotPollForAClientThatDoesNotRead) {
  FrontUnderTest server;
  server.stream_script();
  constexpr int kFrames = 1000;
  for (int i = 0; i < kFrames; ++i) server.script.push(std::string(65536, 'x'));
  RawClient slow{server.port()};
  RawClient other{server.port()};

  slow.get("/watch");
  (void)slow.read_head();
  server.handler.answer = [](const ServerRequest&) { return ServerResponse{.body = "quick"}; };
  other.get("/x");
  EXPECT_EQ(other.read_response().body, "quick");
  EXPECT_LT(server.script.taken(), kFrames / 2U);  // unread frames wait in the engine

  server.script.end();
  std::size_t received = 0;
  for (std::string chunk; !(chunk = slow.read_chunk()).empty();) received += chunk.size();
  EXPECT_EQ(received, kFrames * 65536U);
}

TEST(Http1, DropsTheStreamWhenTheClientLeaves) {
  FrontUnderTest server;
  server.stream_script();
  RawClient client{server.port()};
  client.get("/watch");
  (void)client.read_head();

  client.close();

  EXPECT_TRUE(server.script.wait_until_dropped());
}

TEST(Http1, ClosesConnectionsThatAreIdleForTooLong) {
  FrontUnderTest server{{.limits = {.idle_timeout = 20ms}}};
  RawClient idle{server.port()};

  idle.get("/x");
  EXPECT_EQ(idle.read_response().status, 200);

  EXPECT_EQ(idle.read_some(), "");
}

// RQ-11
TEST(Http1, CompressesLargeBodiesIfGzipIsAccepted) {
  FrontUnderTest server;
  server.handler.answer = [](const ServerRequest& request) {
    return ServerResponse{.body = std::string(request.target == "/large" ? 131073 : 131072, 'x')};
  };
  RawClient client{server.port()};
  const auto encoding = [&](std::string_view target, std::string_view accept) {
    client.get(target, fmt::format("Accept-Encoding: {}\r\n", accept));
    RawResponse response = client.read_response();
    EXPECT_TRUE(response.complete);
    return response.headers["content-encoding"] + response.headers["vary"];
  };

  EXPECT_EQ(encoding("/large", "gzip"), "gzipAccept-Encoding");
  EXPECT_EQ(encoding("/large", "deflate, gzip, br"), "gzipAccept-Encoding");
  EXPECT_EQ(encoding("/large", "gzip;q=1"), "");
  EXPECT_EQ(encoding("/large", "*"), "");
  EXPECT_EQ(encoding("/small", "gzip"), "");
}

// WT-24
TEST(Http1, CompressesEachFlushOfAWatchWithInitialEvents) {
  FrontUnderTest server;
  server.stream_script();
  RawClient client{server.port()};

  client.get(
      "/api/v1/pods?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
      "&resourceVersionMatch=NotOlderThan",
      "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(client.read_head().headers.at("content-encoding"), "gzip");
  for (const std::string text : {"first\n", "second\n"}) {
    server.script.push(text);
    EXPECT_EQ(client.read_chunk(), gzip(text));  // each is a separate gzip member
  }

  RawClient plain{server.port()};
  plain.get("/api/v1/pods?watch=1&resourceVersion=7&allowWatchBookmarks=true",
            "Accept-Encoding: gzip\r\n");
  EXPECT_FALSE(plain.read_head().headers.contains("content-encoding"));
}

// RQ-6
TEST(Http1, SendsListsInChunks) {
  FrontUnderTest server;
  RawClient client{server.port()};

  client.get("/api/v1/pods");
  EXPECT_EQ(client.read_response().headers.at("transfer-encoding"), "chunked");
  client.get("/api/v1/namespaces/default/pods/web-0");
  EXPECT_TRUE(client.read_response().headers.contains("content-length"));
}

// FC-2
TEST(HttpFront, DrainEndsStreamsProperlyAndRefusesTheRest) {
  FrontUnderTest server;
  server.stream_script();
  RawClient watching{server.port()};
  watching.get("/watch");
  (void)watching.read_head();
  RawClient idle{server.port()};

  server.pipeline.refuse_all(true);
  RawClient late{server.port()};
  late.get("/x");
  const RawResponse refused = late.read_response();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.at("retry-after"), "5");
  EXPECT_EQ(refused.headers.at("connection"), "close");
  server.front.drain(10s);

  EXPECT_EQ(watching.read_to_end(), "0\r\n\r\n");
  EXPECT_EQ(server.front.connections(), 0U);
  EXPECT_THROW(RawClient{server.port()}, std::runtime_error);
}

TEST(HttpFront, LeavesNoThreadAndNoSocket) {
  const auto entries = [](const char* folder) {
    return std::distance(std::filesystem::directory_iterator{folder}, {});
  };
  { FrontUnderTest warm_up; }  // a sanitizer starts its own thread with the first one
  const auto threads = entries("/proc/self/task");
  const auto files = entries("/proc/self/fd");
  {
    FrontUnderTest server;
    server.stream_script();
    RawClient watching{server.port()};
    watching.get("/watch");
    (void)watching.read_head();
    RawClient half{server.port()};
    half.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
    EXPECT_GT(entries("/proc/self/task"), threads);
  }

  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), files);
}

TEST(HttpFront, ReportsWhyItCannotListen) {
  FrontUnderTest first;

  try {
    FrontUnderTest second{{.port = first.port()}};
    FAIL() << "two servers on one port";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("cannot listen on \"127.0.0.1:"), std::string::npos);
  }
}

// RV-8: the engine may wait for three seconds.
TEST(HttpFront, WaitingRequestsDoNotBlockOthers) {
  FrontUnderTest server;
  std::mutex mutex;
  std::condition_variable released;
  bool release = false;
  server.handler.answer = [&](const ServerRequest& request) {
    if (request.target.find("resourceVersion=99") != std::string::npos) {
      std::unique_lock lock{mutex};
      released.wait(lock, [&] { return release; });
    }
    return ServerResponse{.body = "done"};
  };
  std::vector<std::unique_ptr<RawClient>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::make_unique<RawClient>(server.port()));
    waiting.back()->get("/api/v1/pods?resourceVersion=99");
  }

  RawClient quick{server.port()};
  quick.get("/api/v1/pods");
  EXPECT_EQ(quick.read_response().body, "done");
  {
    const std::lock_guard guard{mutex};
    release = true;
  }
  released.notify_all();
  for (const auto& client : waiting) EXPECT_EQ(client->read_response().body, "done");
}

}  // namespace
}  // namespace kube::testkit::detail
