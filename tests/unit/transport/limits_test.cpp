// SPDX-License-Identifier: Apache-2.0
// Limits against misbehaving servers: control characters, endless heads and trailers, endless
// informational responses. Also failures of system calls.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "../../../src/transport/tunnel.hpp"
#include "helpers.hpp"
#include "scripted_peers.hpp"

namespace kube::test {
namespace {

using namespace std::string_literals;

/// Responds to the first bytes of the client with given bytes.
class RawPeer final : public ScriptedPeer {
 public:
  explicit RawPeer(std::string bytes) : bytes_(std::move(bytes)) {}
  void receive(std::string_view) override { output += std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// Outcome and error kind of a GET whose response is these bytes.
struct Result {
  std::string text;
  std::optional<Kind> failure;
};
Result answered_with(bool http2, const std::string& bytes, TransportOptions options = {}) {
  Schedule schedule{http2, [&](std::size_t) { return std::make_unique<RawPeer>(bytes); },
                    std::move(options)};
  const auto exchange = schedule.post({});
  EXPECT_TRUE(schedule.run());
  return {outcome(*exchange), exchange->failure()};
}

std::string frame(char type, char flags, std::string_view payload, char stream = 1) {
  const auto size = payload.size();
  return std::string{static_cast<char>(size >> 16),
                     static_cast<char>(size >> 8),
                     static_cast<char>(size),
                     type,
                     flags,
                     '\0',
                     '\0',
                     '\0',
                     stream} +
         std::string{payload};
}
std::string settings() { return frame(4, 0, "", 0); }
/// HPACK: a literal field without indexing, with a new name.
std::string field(std::string_view name, std::string_view value) {
  return "\0"s + static_cast<char>(name.size()) + std::string{name} +
         static_cast<char>(value.size()) + std::string{value};
}
constexpr char kEndHeaders = 4;
constexpr char kEndStream = 1;
const std::string kStatus100 =
    "\x08\x03"
    "100";
const std::string kStatus200 = "\x88";
const std::string kHead = "HTTP/1.1 200 OK\r\n";
const std::string kChunked = kHead + "Transfer-Encoding: chunked\r\n\r\n";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// RC-23
TEST(Limits, OfInformationalAnswersInHttp1) {
  const std::string hint = "HTTP/1.1 103 Early Hints\r\n\r\n";
  const std::string answer = kHead + "Content-Length: 2\r\n\r\nok";

  EXPECT_EQ(answered_with(false, repeated(hint, 10) + answer).text, "200 ok");
  const Result result = answered_with(false, repeated(hint, 11) + answer);
  EXPECT_EQ(result.failure, Kind::kProtocol);
  EXPECT_THAT(result.text, testing::HasSubstr("more than 10 informational"));
}

// RC-23
TEST(Limits, OfInformationalAnswersInHttp2) {
  const std::string hint = frame(1, kEndHeaders, kStatus100);
  const std::string answer = frame(1, kEndHeaders, kStatus200) + frame(0, kEndStream, "ok");

  EXPECT_EQ(answered_with(true, settings() + repeated(hint, 10) + answer).text, "200 ok");
  const Result result = answered_with(true, settings() + repeated(hint, 11) + answer);
  EXPECT_EQ(result.failure, Kind::kProtocol);
  EXPECT_THAT(result.text, testing::HasSubstr("more than 10 informational"));
}

// RC-23
TEST(Limits, OfInformationalAnswersOfAProxy) {
  const auto origin = detail::parse_origin(
      {.base_url = "https://api.example", .proxy_url = "http://proxy.example"});
  const std::string hint = "HTTP/1.1 103 Early Hints\r\n\r\n";
  const std::string answer = "HTTP/1.1 200 OK\r\n\r\n";

  EXPECT_TRUE(detail::make_tunnel(origin)->receive(repeated(hint, 10) + answer));
  std::string message;
  EXPECT_EQ(kind_of(
                [&] {
                  const auto tunnel = detail::make_tunnel(origin);
                  for (int i = 0; i < 11; ++i) (void)tunnel->receive(hint);
                },
                &message),
            Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("more than 10 informational"));
}

// RC-23: limited in bytes and in number, since each counts 32 bytes more than its size.
TEST(Limits, OfTrailers) {
  const TransportOptions options{.max_header_bytes = 1000};
  const std::string http1 = kChunked + "0\r\n";
  const std::string http2 = settings() + frame(1, kEndHeaders, kStatus200);

  EXPECT_EQ(answered_with(false, http1 + repeated("A: b\r\n", 20) + "\r\n", options).text, "200 ");
  Result result = answered_with(false, http1 + repeated("A: b\r\n", 30), options);
  EXPECT_EQ(result.failure, Kind::kProtocol);
  EXPECT_THAT(result.text, testing::HasSubstr("trailers of the answer are larger than 1000"));
  result = answered_with(false, http1 + "A: " + std::string(5000, 'b'), options);
  EXPECT_EQ(result.failure, Kind::kProtocol);

  const auto trailers = [](int count) {
    return frame(1, kEndHeaders | kEndStream, repeated(field("a", "b"), count));
  };
  EXPECT_EQ(answered_with(true, http2 + trailers(20), options).text, "200 ");
  result = answered_with(true, http2 + trailers(30), options);
  EXPECT_EQ(result.failure, Kind::kProtocol);
  EXPECT_THAT(result.text, testing::HasSubstr("trailers of the answer are larger than 1000"));
}

// RC-23: control characters could forge log lines or control a terminal.
TEST(ControlCharacters, InAnAnswerAreRefused) {
  const std::string length = "\r\nContent-Length: 0\r\n\r\n";
  for (const std::string& text : {"a\0b"s, "a\rb"s, "a\nb"s, "a\x1b[2Jb"s, "a\x7f"s, "\b"s}) {
    for (const std::string& answer :
         {kHead + "X: " + text + length, kHead + "X" + text + ": b" + length,
          "HTTP/1.1 200 " + text + length, kChunked + "0\r\nX: " + text + "\r\n\r\n",
          kChunked + "0;" + text + "\r\n\r\n"}) {
      const Result result = answered_with(false, answer);
      EXPECT_EQ(result.failure, Kind::kProtocol) << testing::PrintToString(answer);
      EXPECT_TRUE(std::ranges::none_of(result.text, [](unsigned char c) { return c < ' '; }));
    }
    const Result result = answered_with(
        true, settings() + frame(1, kEndHeaders | kEndStream, kStatus200 + field("x", text)));
    EXPECT_EQ(result.failure, Kind::kProtocol) << testing::PrintToString(text);
    EXPECT_TRUE(std::ranges::none_of(result.text, [](unsigned char c) { return c < ' '; }));
  }
  EXPECT_EQ(answered_with(false, kHead + "X: a\tb\xc3\xa4" + length).text, "200 ");
}

TEST(ControlCharacters, InAnAnswerOfAProxyAreRefused) {
  const auto origin = detail::parse_origin(
      {.base_url = "https://api.example", .proxy_url = "http://proxy.example"});
  for (const std::string& text : {"a\0b"s, "a\rb"s, "a\nb"s, "a\x1b[2Jb"s}) {
    for (const std::string& answer :
         {"HTTP/1.1 200 OK\r\nX: " + text + "\r\n\r\n", "HTTP/1.1 200 " + text + "\r\n\r\n",
          "HTTP/1.1 503 " + text + "\r\n\r\n"}) {
      std::string message;
      EXPECT_EQ(kind_of([&] { (void)detail::make_tunnel(origin)->receive(answer); }, &message),
                Kind::kProxy)
          << testing::PrintToString(answer);
      EXPECT_TRUE(std::ranges::none_of(message, [](unsigned char c) { return c < ' '; }));
    }
  }
}

TEST(ControlCharacters, OfAGoawayDoNotReachMessages) {
  const std::string goaway = frame(7, 0, "\0\0\0\1\0\0\0\0bye\x1b[2J\n"s, 0);
  Schedule schedule{true, [&](std::size_t) {
                      auto peer = std::make_unique<RawPeer>(settings() + goaway);
                      peer->ended = true;
                      return peer;
                    }};
  const auto exchange = schedule.post({});
  ASSERT_TRUE(schedule.run());

  EXPECT_THAT(outcome(*exchange), testing::HasSubstr("bye.[2J."));
}

// RC-25
TEST(HeadTimeout, IsForRequestsWithoutATimeoutOfTheirOwn) {
  Schedule schedule{false,
                    [](std::size_t) { return std::make_unique<RawPeer>("HTTP/1.1 100 "); },
                    {.head_timeout = 10s}};
  const auto start = schedule.network().time.now();
  const auto watch = schedule.post({});
  const auto list = schedule.post({.timeout = 60s});

  std::vector<Clock::Duration> ends;
  for (const auto& exchange : {watch, list}) {
    for (int i = 0; i < 100 && !exchange->done(); ++i) {
      const auto asleep = schedule.network().asleep;
      if (asleep) schedule.network().time.advance(std::chrono::milliseconds{*asleep});
      schedule.step();
    }
    ends.push_back(schedule.network().time.now() - start);
  }

  EXPECT_THAT(ends, testing::ElementsAre(10s, 60s));
  EXPECT_EQ(watch->failure(), Kind::kTimeout);
  EXPECT_THAT(outcome(*watch), testing::HasSubstr("no head of an answer within 10000 ms"));
}

TEST(HeadTimeout, DoesNotEndAWatchThatHasItsHead) {
  Schedule schedule{false,
                    [](std::size_t) { return std::make_unique<RawPeer>(kHead + "\r\n"); },
                    {.head_timeout = 10s, .idle_connection_timeout = 0s}};
  const auto watch = schedule.post({});
  for (int i = 0; i < 10; ++i) {
    schedule.step();
    schedule.network().time.advance(10s);
  }

  EXPECT_TRUE(watch->has_head());
  EXPECT_FALSE(watch->done());
}

// RC-26
TEST(Exhaustion, OfEachCallFailsOnlyItsConnection) {
  const auto lost = std::make_exception_ptr(TransportError(Kind::kConnectionLost, "lost"));
  for (const auto& failure :
       {lost, std::make_exception_ptr(std::bad_alloc()), std::make_exception_ptr(42)}) {
    for (const bool http2 : {false, true}) {
      bool failed = true;
      for (int call = 0; failed; ++call) {
        Handled handled;
        Schedule schedule{http2, [&](std::size_t) -> std::unique_ptr<ScriptedPeer> {
                            if (http2) return std::make_unique<Http2Peer>(handled);
                            return std::make_unique<Http1Peer>(
                                handled, [](const std::string&) { return kChunked + "0\r\n\r\n"; });
                          }};
        schedule.network().failure = failure;
        schedule.network().failing_call = call;
        const auto other = schedule.post({.target = "/other", .lane = Lane::kWatches});
        for (const char* method : {"GET", "POST"}) schedule.post({.method = method});
        ASSERT_TRUE(schedule.run()) << call;
        failed = schedule.network().calls > call;
        schedule.network().failing_call.reset();

        const auto again = schedule.post({});
        ASSERT_TRUE(schedule.run()) << call;
        ASSERT_FALSE(again->failure());
        ASSERT_EQ(schedule.leftovers(), "") << call;
      }
    }
  }
}

// A context that was made without enough memory would fail every handshake.
TEST(Exhaustion, OfAHandshakeCostsTheTlsContext) {
  for (const auto& [kind, contexts] : {std::pair{Kind::kTls, 2}, {Kind::kConnect, 1}}) {
    Handled handled;
    Schedule schedule{true, [&](std::size_t) { return std::make_unique<Http2Peer>(handled); }};
    schedule.network().failure = std::make_exception_ptr(TransportError(kind, "no"));
    schedule.network().failing_call = 1;  // after the dial
    const auto exchange = schedule.post({});
    ASSERT_TRUE(schedule.run());

    EXPECT_EQ(exchange->failure(), kind);
    EXPECT_EQ(schedule.network().tls_contexts, contexts);
  }
}

TEST(Exhaustion, OfPollDoesNotDelayResponses) {
  Handled handled;
  Schedule schedule{true, [&](std::size_t) { return std::make_unique<Http2Peer>(handled); }};
  schedule.network().failing_waits = 1000;
  const auto exchange = schedule.post({.target = "/1"});
  ASSERT_TRUE(schedule.run());

  EXPECT_EQ(outcome(*exchange), "200 /1");
}

TEST(IdleConnections, CanBeForbidden) {
  Handled handled;
  Schedule schedule{true,
                    [&](std::size_t) { return std::make_unique<Http2Peer>(handled); },
                    {.max_idle_connections = 0}};
  for (int i = 0; i < 3; ++i) {
    const auto exchange = schedule.post({.target = "/1"});
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(outcome(*exchange), "200 /1");
  }

  EXPECT_EQ(schedule.network().wires.size(), 3U);
}

}  // namespace
}  // namespace kube::test
