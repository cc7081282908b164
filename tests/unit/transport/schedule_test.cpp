// SPDX-License-Identifier: Apache-2.0
// Enumerates all orders of events in small schedules: where bytes are split, when the socket is
// full, when something arrives. In every order, each exchange gets its own response exactly once,
// or fails with a reason.
#include <fmt/format.h>

#include "helpers.hpp"
#include "scripted_peers.hpp"

namespace kube::test {
namespace {

using detail::Exchange;
using ExchangePtr = std::shared_ptr<Exchange>;

constexpr auto kUnlimited = std::string::npos;
constexpr auto kLongerThanUntilPing = 31s;

HttpRequest get(std::string target) { return {.target = std::move(target)}; }
HttpRequest post(std::string target) { return {.method = "POST", .target = std::move(target)}; }

std::string answer_with(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

/// Returns the problems after a schedule in which a server handled all requests; empty if there are
/// none.
std::string problems(Schedule& schedule, const std::vector<ExchangePtr>& exchanges,
                     const Handled& handled) {
  if (!schedule.run()) return "the loop does not come to an end";
  std::string found = schedule.leftovers();
  for (const ExchangePtr& exchange : exchanges) {
    const std::string& target = exchange->request.target;
    const std::string result = outcome(*exchange);
    if (result != "200 " + target) found += fmt::format("{}: {}. ", target, result);
    const auto times = handled.find(target);
    if (times == handled.end() || times->second != 1) {
      found += fmt::format("{} was handled {} times. ", target,
                           times == handled.end() ? 0 : times->second);
    }
    if (exchange.use_count() > 2) found += fmt::format("{} is still held. ", target);
  }
  return found;
}

/// HTTP/2: the test controls the first connection; later ones respond at once.
struct Http2Case {
  Handled handled;
  Http2Peer* first = nullptr;
  Schedule schedule;

  explicit Http2Case(bool hold = false)
      : schedule(true, [this, hold](std::size_t index) -> std::unique_ptr<ScriptedPeer> {
          auto peer = std::make_unique<Http2Peer>(handled, hold && index == 0);
          if (index == 0) first = peer.get();
          return peer;
        }) {}
  Wire& wire() { return *schedule.network().wires.front(); }
  /// Lets the socket of the first connection accept `room` bytes before it is full.
  void limit(std::size_t room) {
    schedule.network().at(1, [this, room] { wire().room = room; });
  }
};

// A request that is still in nghttp2's queue when GOAWAY arrives is returned by the next write,
// even by the PING of a silent connection, which is closed then.
TEST(Http2Schedule, AnswersEveryRequestOnceWheneverGoawayComes) {
  constexpr int kMoments = 13;
  for (const std::size_t room : {0, 70}) {
    for (int asked = 2; asked < kMoments; ++asked) {
      for (int goaway = 2; goaway < kMoments; ++goaway) {
        for (int writable = 2; writable < kMoments; ++writable) {
          for (int later = 2; later < kMoments; ++later) {
            Http2Case test;
            ScriptedNetwork& network = test.schedule.network();
            std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1"))};
            test.limit(room);
            network.at(asked, [&] { exchanges.push_back(test.schedule.post(post("/2"))); });
            network.at(goaway, [&] { test.first->go_away(); });
            network.at(writable, [&] { test.wire().room = kUnlimited; });
            network.at(later, [&] { network.time.advance(kLongerThanUntilPing); });

            ASSERT_EQ(problems(test.schedule, exchanges, test.handled), "")
                << fmt::format("room {}, asked {}, GOAWAY {}, writable {}, PING {}", room, asked,
                               goaway, writable, later);
          }
        }
      }
    }
  }
}

/// One conversation with all kinds of frames: responses, PING, RST_STREAM, GOAWAY. The schedule
/// decides when the bytes arrive.
void converse(Http2Case& test, std::vector<ExchangePtr>& exchanges) {
  ScriptedNetwork& network = test.schedule.network();
  exchanges = {test.schedule.post(get("/1")), test.schedule.post(post("/2")),
               test.schedule.post(get("/3"))};
  network.at(14, [&] {
    test.first->ping();
    test.first->reset(5, NGHTTP2_REFUSED_STREAM);
    test.first->release();
    test.first->go_away();
  });
}

/// /3 may have been refused after it was handled, so only its response is checked.
std::string problems_of_conversation(Http2Case& test, const std::vector<ExchangePtr>& exchanges) {
  Handled& handled = test.handled;
  if (!test.schedule.run()) return "the loop does not come to an end";
  if (handled["/3"] == 2) handled["/3"] = 1;
  return problems(test.schedule, exchanges, handled);
}

TEST(Http2Schedule, AnswersEveryRequestWhereverTheServersBytesAreSplit) {
  std::size_t all = 0;
  for (std::size_t split = 0; split <= all; ++split) {
    for (int arrives = 1; arrives < 30; arrives += 2) {
      Http2Case test{true};
      std::vector<ExchangePtr> exchanges;
      converse(test, exchanges);
      test.schedule.network().at(1, [&] { test.wire().arriving = split; });
      test.schedule.network().at(arrives, [&] { test.wire().arriving = kUnlimited; });

      ASSERT_EQ(problems_of_conversation(test, exchanges), "")
          << fmt::format("split after {} bytes, the rest arrives at {}", split, arrives);
      all = std::max(all, test.first->output.size());
    }
  }
  EXPECT_GT(all, 100U);
}

TEST(Http2Schedule, AnswersEveryRequestWhereverTheSocketFillsUp) {
  for (std::size_t room = 0; room <= 260; ++room) {
    for (int writable = 1; writable < 30; writable += 2) {
      Http2Case test{true};
      std::vector<ExchangePtr> exchanges;
      converse(test, exchanges);
      test.limit(room);
      test.schedule.network().at(writable, [&] { test.wire().room = kUnlimited; });

      ASSERT_EQ(problems_of_conversation(test, exchanges), "")
          << fmt::format("full after {} bytes, writable at {}", room, writable);
    }
  }
}

TEST(Http2Schedule, AnswersEveryRequestHoweverSmallThePieces) {
  for (std::size_t sent = 1; sent < 40; ++sent) {
    for (std::size_t received = 1; received < 40; ++received) {
      Http2Case test{true};
      std::vector<ExchangePtr> exchanges;
      converse(test, exchanges);
      test.schedule.network().most_sent = sent;
      test.schedule.network().most_received = received;

      ASSERT_EQ(problems_of_conversation(test, exchanges), "")
          << fmt::format("{} bytes sent and {} received at a time", sent, received);
    }
  }
}

// Canceling must find a live connection, or none.
TEST(Http2Schedule, EndsEveryExchangeWheneverOneIsCanceled) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{70}, kUnlimited}) {
    for (int goaway = 2; goaway < 12; ++goaway) {
      for (int writable = 2; writable < 12; ++writable) {
        for (int canceled = 2; canceled < 20; ++canceled) {
          Http2Case test{true};
          ScriptedNetwork& network = test.schedule.network();
          const auto one = test.schedule.post(get("/1"));
          const auto two = test.schedule.post(post("/2"));
          test.limit(room);
          network.at(goaway, [&] { test.first->go_away(); });
          network.at(writable, [&] { test.wire().room = kUnlimited; });
          network.at(canceled, [&] { two->cancel(); });
          network.at(20, [&] { test.first->release(); });

          ASSERT_TRUE(test.schedule.run());
          ASSERT_EQ(test.schedule.leftovers(), "");
          ASSERT_EQ(outcome(*one), "200 /1");
          ASSERT_EQ(outcome(*two), "error: POST /2: canceled");
        }
      }
    }
  }
}

/// HTTP/1.1: the test controls the first connection; later ones respond at once.
struct Http1Case {
  Handled handled;
  Http1Peer* first = nullptr;
  /// Start of the turn in which the first server received a request after its end.
  std::optional<int> late_request_turn;
  Schedule schedule;

  explicit Http1Case(const std::function<std::string(const std::string&)>& answer = answer_with)
      : schedule(false, [this, answer](std::size_t index) -> std::unique_ptr<ScriptedPeer> {
          if (index > 0) return std::make_unique<Http1Peer>(handled, answer_with);
          auto peer = std::make_unique<Http1Peer>(
              handled, answer, [this] { late_request_turn = schedule.network().turn_began; });
          first = peer.get();
          return peer;
        }) {}
  Wire& wire() { return *schedule.network().wires.front(); }
};

/// All ways to delimit a response.
const std::vector<std::function<std::string(const std::string&)>> kAnswers = {
    [](const std::string& body) { return answer_with(body); },
    [](const std::string& body) {
      return "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" +
             answer_with(body);
    },
    [](const std::string& body) {
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(body.substr(0, 1)) +
             chunk(body.substr(1)) + "0\r\nX-Trailer: 1\r\n\r\n";
    },
    [](const std::string& body) {
      return fmt::format("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                         body.size(), body);
    },
};

TEST(Http1Schedule, AnswersEveryRequestWhereverTheServersBytesAreSplit) {
  for (const auto& answer : kAnswers) {
    const std::size_t all = 2 * answer("/1").size();
    for (std::size_t split = 0; split <= all; ++split) {
      for (int arrives = 1; arrives < 24; ++arrives) {
        Http1Case test{answer};
        const std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1")),
                                                 test.schedule.post(post("/2"))};
        ScriptedNetwork& network = test.schedule.network();
        network.at(1, [&] { test.wire().arriving = split; });
        network.at(arrives, [&] { test.wire().arriving = kUnlimited; });

        ASSERT_EQ(problems(test.schedule, exchanges, test.handled), "")
            << fmt::format("split after {} bytes, the rest arrives at {}", split, arrives);
      }
    }
  }
}

TEST(Http1Schedule, AnswersEveryRequestWhereverTheSocketFillsUp) {
  for (std::size_t room = 0; room < 140; ++room) {
    for (int writable = 1; writable < 24; ++writable) {
      Http1Case test;
      const std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1")),
                                               test.schedule.post(post("/2"))};
      ScriptedNetwork& network = test.schedule.network();
      network.at(1, [&] { test.wire().room = room; });
      network.at(writable, [&] { test.wire().room = kUnlimited; });

      ASSERT_EQ(problems(test.schedule, exchanges, test.handled), "")
          << fmt::format("full after {} bytes, writable at {}", room, writable);
    }
  }
}

// A body without a length ends with the connection.
TEST(Http1Schedule, TakesAllBytesBeforeTheEndForTheBody) {
  const auto endless = [](const std::string& body) { return "HTTP/1.1 200 OK\r\n\r\n" + body; };
  for (std::size_t split = 0; split <= endless("/1").size(); ++split) {
    for (int arrives = 1; arrives < 20; ++arrives) {
      for (int ends = 8; ends < 24; ++ends) {
        Http1Case test{endless};
        const std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1"))};
        ScriptedNetwork& network = test.schedule.network();
        network.at(1, [&] { test.wire().arriving = split; });
        network.at(arrives, [&] { test.wire().arriving = kUnlimited; });
        network.at(ends, [&] { test.first->end(); });

        ASSERT_EQ(problems(test.schedule, exchanges, test.handled), "")
            << fmt::format("split after {}, rest at {}, end at {}", split, arrives, ends);
      }
    }
  }
}

// RC-24: a 408 or close on an idle connection is not a response to the next request.
TEST(Http1Schedule, NeverSendsOnAConnectionThatHasInputBeforeTheRequest) {
  const std::string farewells[] = {
      "", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"};
  int late = 0;
  for (const std::string& farewell : farewells) {
    for (const char* method : {"GET", "POST"}) {
      for (std::size_t split = 0; split <= farewell.size(); ++split) {
        for (int ends = 6; ends < 20; ++ends) {
          for (int asked = 6; asked < 20; ++asked) {
            Http1Case test;
            std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1"))};
            ScriptedNetwork& network = test.schedule.network();
            int ended = 0;
            network.at(ends, [&] {
              ended = network.now;
              test.wire().arriving = test.first->output.size() + split;
              test.first->end(farewell);
            });
            network.at(asked, [&] {
              exchanges.push_back(test.schedule.post({.method = method, .target = "/2"}));
            });
            network.at(21, [&] { test.wire().arriving = kUnlimited; });

            const std::string found = problems(test.schedule, exchanges, test.handled);
            const auto sent = test.late_request_turn;
            const bool readable = farewell.empty() || split > 0;
            if (sent && (!readable || *sent < ended)) {
              ++late;  // a response and a 408 that crosses the request look the same
              continue;
            }
            ASSERT_EQ(found, "") << fmt::format(
                "{}, {} of {} bytes at {}, asked {}, sent in the turn that began at {}", method,
                split, farewell.size(), ended, asked, sent.value_or(-1));
            ASSERT_FALSE(sent);
          }
        }
      }
    }
  }
  EXPECT_GT(late, 0);  // some moments are between the check and the request
}

// A new connection would end in the same way, endlessly.
TEST(Http1Schedule, TakesTheFirstDataOfANewConnectionForItsResponse) {
  for (const std::string& greeting : {std::string{}, answer_with("too many connections")}) {
    Handled handled;
    Schedule schedule{false, [&](std::size_t) {
                        auto peer = std::make_unique<Http1Peer>(handled, answer_with);
                        peer->end(greeting);
                        return peer;
                      }};
    const auto exchange = schedule.post(get("/1"));

    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(outcome(*exchange),
              greeting.empty()
                  ? "error: scripted: the server closed the connection before it answered"
                  : "200 too many connections");
    EXPECT_EQ(schedule.network().wires.size(), 1U);
  }
}

// A connection whose request was canceled before it was established.
TEST(Http1Schedule, DoesNotSendOnAnUnusedConnectionThatWasClosed) {
  for (int asked = 8; asked < 14; ++asked) {
    Http1Case test;
    ScriptedNetwork& network = test.schedule.network();
    std::vector<ExchangePtr> exchanges{test.schedule.post(get("/1"))};
    const auto canceled = test.schedule.post(get("/canceled"));
    network.at(1, [&] {
      canceled->cancel();
      test.wire().arriving = 0;  // busy with /1
    });
    network.at(8, [&] { network.wires[1]->peer->ended = true; });
    network.at(20, [&] { test.wire().arriving = kUnlimited; });
    network.at(asked, [&] { exchanges.push_back(test.schedule.post(post("/2"))); });

    ASSERT_TRUE(test.schedule.run());
    EXPECT_EQ(network.wires.size(), 3U);
    ASSERT_EQ(problems(test.schedule, exchanges, test.handled), "") << asked;
  }
}

}  // namespace
}  // namespace kube::test
