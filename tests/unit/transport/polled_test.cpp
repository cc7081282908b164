// SPDX-License-Identifier: Apache-2.0
// Polled exchanges (RC-74 to RC-76).
#include "../../../src/transport/exchange.hpp"
#include "../../../src/transport/polled_stream.hpp"

#include <kube/engine/runtime.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "helpers.hpp"
#include "support/counting_waker.hpp"

namespace kube::test {
namespace {

using detail::AsyncTransport;
using detail::Exchange;
using detail::Mailbox;
using detail::PolledStream;

/// Runs the reader's side and the loop's side in one thread.
struct PolledExchange : testing::Test {
  PolledExchange() { exchange->set_waker(waker); }
  // The mailbox and an exchange in it own each other until the dispatcher takes the exchange out.
  ~PolledExchange() override {
    while (mailbox->next() != nullptr) {
    }
  }
  PolledExchange(const PolledExchange&) = delete;
  PolledExchange& operator=(const PolledExchange&) = delete;

  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  std::shared_ptr<Exchange> exchange =
      std::make_shared<Exchange>(HttpRequest{}, nullptr, mailbox, 1000);
  std::string bytes;
};

// RC-74
TEST_F(PolledExchange, WakesOnceForAllThatArrivesTogether) {
  EXPECT_EQ(exchange->poll_head(), nullptr);
  exchange->on_head({.status = 200});
  exchange->on_bytes("one");
  exchange->on_bytes("two");
  EXPECT_EQ(waker->take(), 0);
  exchange->flush();
  EXPECT_EQ(waker->take(), 1);

  ASSERT_NE(exchange->poll_head(), nullptr);
  EXPECT_EQ(exchange->poll_head()->status, 200);
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_EQ(bytes, "onetwo");
  exchange->on_bytes("three");
  exchange->flush();
  EXPECT_EQ(waker->take(), 0) << "a reader that is not pending needs no wake-up";
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_EQ(bytes, "three");

  EXPECT_FALSE(exchange->poll_take(bytes));
  exchange->on_end();
  exchange->flush();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_TRUE(bytes.empty());
}

// RC-74
TEST_F(PolledExchange, WakesWhenItFailsOrIsCanceled) {
  EXPECT_EQ(exchange->poll_head(), nullptr);
  exchange->fail({Kind::kConnectionLost, "lost"});
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(kind_of([&] { (void)exchange->poll_head(); }), Kind::kConnectionLost);
  EXPECT_EQ(kind_of([&] { (void)exchange->poll_take(bytes); }), Kind::kConnectionLost);

  exchange = std::make_shared<Exchange>(HttpRequest{}, nullptr, mailbox, 1000);
  exchange->set_waker(waker);
  exchange->on_head({.status = 200});
  EXPECT_FALSE(exchange->poll_take(bytes));
  exchange->cancel();
  EXPECT_EQ(waker->take(), 1);
  EXPECT_EQ(kind_of([&] { (void)exchange->poll_take(bytes); }), Kind::kCanceled);
}

// RC-74: bytes that arrived before a failure are not lost.
TEST_F(PolledExchange, GivesTheBytesBeforeAFailure) {
  exchange->on_head({.status = 200});
  exchange->on_bytes("one");
  exchange->fail({Kind::kConnectionLost, "lost"});
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_EQ(bytes, "one");
  EXPECT_EQ(kind_of([&] { (void)exchange->poll_take(bytes); }), Kind::kConnectionLost);
}

// RC-76
TEST_F(PolledExchange, KeepsNoBufferAtRest) {
  exchange->on_head({.status = 200});
  exchange->on_bytes(std::string(900, 'x'));
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_GE(bytes.capacity(), 900U);
  EXPECT_FALSE(exchange->poll_take(bytes));
  EXPECT_LT(bytes.capacity(), 100U);
}

// RC-76
TEST_F(PolledExchange, NotifiesTheLoopWhenThereIsRoomAgain) {
  exchange->on_head({.status = 200});
  exchange->on_bytes(std::string(1000, 'x'));
  EXPECT_TRUE(exchange->full());
  EXPECT_EQ(mailbox->posted_count(), 0U);
  EXPECT_TRUE(exchange->poll_take(bytes));
  EXPECT_FALSE(exchange->full());
  EXPECT_EQ(mailbox->posted_count(), 1U);
  EXPECT_EQ(exchange->take_credit(), 1000U);
}

// RC-74: one thread is the loop; the other continues only when woken.
TEST_F(PolledExchange, LosesNoWakeUp) {
  constexpr int kPieces = 20'000;
  std::thread loop{[this] {
    exchange->on_head({.status = 200});
    exchange->flush();
    for (int i = 0; i < kPieces; ++i) {
      exchange->on_bytes("x");
      exchange->flush();
      if (i % 64 == 0) std::this_thread::yield();
    }
    exchange->on_end();
    exchange->flush();
  }};
  while (exchange->poll_head() == nullptr) ASSERT_TRUE(waker->wait());
  std::size_t received = 0;
  for (;;) {
    if (!exchange->poll_take(bytes)) {
      ASSERT_TRUE(waker->wait());
    } else if (bytes.empty()) {
      break;
    } else {
      received += bytes.size();
    }
  }
  loop.join();
  EXPECT_EQ(received, static_cast<std::size_t>(kPieces));
}

/// A transport over real sockets.
struct PolledTransport : testing::Test {
  void connect(TransportOptions options) {
    transport = make_http_transport(std::move(options));
    async = dynamic_cast<AsyncTransport*>(transport.get());
    ASSERT_NE(async, nullptr);
  }
  std::unique_ptr<PolledStream> start(HttpRequest request = {}) {
    return async->try_start(request, waker);
  }
  void wait_head(PolledStream& stream) {
    while (!stream.poll_head()) ASSERT_TRUE(waker->wait());
  }
  /// Returns up to `limit` bytes, or all until the end.
  std::string wait_bytes(PolledStream& stream, std::size_t limit = std::string::npos) {
    std::string all;
    while (all.size() < limit) {
      const auto bytes = stream.poll_read();
      if (bytes && bytes->empty()) break;
      if (bytes) {
        all += *bytes;
      } else if (!waker->wait()) {
        ADD_FAILURE() << "not woken";
        break;
      }
    }
    return all;
  }

  std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  std::unique_ptr<Transport> transport;
  AsyncTransport* async = nullptr;
};

// RC-74
TEST_F(PolledTransport, AnswersWithoutAThreadThatWaits) {
  ScriptedServer server{[](Peer& peer) { answer_ok(peer); }};
  connect({.base_url = server.url()});
  const auto stream = start();
  wait_head(*stream);
  EXPECT_EQ(stream->head().status, 200);
  EXPECT_EQ(wait_bytes(*stream), "ok");
}

// RC-74: decoded as it arrives; a truncated body is an error.
TEST_F(PolledTransport, Decompresses) {
  Signal first_was_read;
  const std::string large(100'000, 'x');
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n" +
               chunk(gzip("one event\n")));
    EXPECT_TRUE(first_was_read.wait());
    const std::string second = gzip(large);
    peer.write(chunk(second.substr(0, 5)) + chunk(second.substr(5)) +
               chunk(gzip("cut off").substr(0, 10)) + "0\r\n\r\n");
  }};
  connect({.base_url = server.url()});
  const auto stream = start();
  wait_head(*stream);
  EXPECT_EQ(find_header(stream->head().headers, "Content-Encoding"), nullptr);
  EXPECT_EQ(wait_bytes(*stream, 10), "one event\n");
  EXPECT_EQ(stream->poll_read(), std::nullopt);
  first_was_read.set();
  EXPECT_EQ(wait_bytes(*stream, large.size()), large);
  EXPECT_EQ(kind_of([&] { (void)wait_bytes(*stream); }), Kind::kProtocol);
}

// RC-74
TEST_F(PolledTransport, ReportsARefusedConnection) {
  int port = 0;
  {
    ScriptedServer server{[](Peer&) {}};
    port = server.port();
  }
  connect({.base_url = "http://127.0.0.1:" + std::to_string(port)});
  const auto stream = start();
  EXPECT_EQ(kind_of([&] { wait_head(*stream); }), Kind::kConnect);
}

// RC-74
TEST_F(PolledTransport, EndsTheExchangeWhenItIsDestroyed) {
  Signal gone;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one"));
    peer.wait_for_end();
    gone.set();
  }};
  connect({.base_url = server.url()});
  auto stream = start();
  wait_head(*stream);
  EXPECT_EQ(wait_bytes(*stream, 3), "one");
  stream.reset();
  EXPECT_TRUE(gone.wait());
}

// RC-74: streams outlive their transport, which fails them.
TEST_F(PolledTransport, WakesPendingStreamsWhenDestroyed) {
  ScriptedServer server{[](Peer& peer) { peer.wait_for_end(); }};
  connect({.base_url = server.url()});
  const auto stream = start();
  EXPECT_FALSE(stream->poll_head());
  transport.reset();
  EXPECT_TRUE(waker->wait());
  EXPECT_EQ(kind_of([&] { (void)stream->poll_head(); }), Kind::kCanceled);
}

/// Drops the last reference to a transport when the transport wakes it.
class LastOwner final : public detail::Waker {
 public:
  explicit LastOwner(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  void wake() noexcept override {
    transport_.reset();
    gone.set();
  }
  Signal gone;

 private:
  std::shared_ptr<Transport> transport_;
};

// RC-74: a job that the transport wakes may be the last owner of its client.
TEST_F(PolledTransport, CanBeDestroyedByItsOwnThread) {
  Signal was_polled;
  ScriptedServer server{[&](Peer& peer) {
    EXPECT_TRUE(was_polled.wait());
    answer_ok(peer);
  }};
  connect({.base_url = server.url()});
  const auto owner = std::make_shared<LastOwner>(std::move(transport));
  HttpRequest request;
  const auto stream = async->try_start(request, owner);
  EXPECT_FALSE(stream->poll_head());
  was_polled.set();
  EXPECT_TRUE(owner->gone.wait());
  EXPECT_TRUE(eventually([] { return entries("/proc/self/task") <= 3; }));
}

// RC-76
TEST_F(PolledTransport, AStreamThatIsNotPolledHoldsItsServerBack) {
  const TestAuthority authority;
  Http2Reply large;
  large.filler = 1'000'000'000;
  Http2Server server{authority.issue_server(), [&](const Http2Request&) { return large; }};
  connect({.base_url = server.url(),
           .credentials = trusting(authority),
           .stream_buffer_bytes = 200'000});
  // User-defined credentials may block, so a worker has to start the exchange.
  EXPECT_EQ(start(), nullptr);
  const auto pending =
      async->start({}, {.waker = waker, .scheduler = detail::Inside::core(*async->runtime())});
  std::unique_ptr<PolledStream> stream;
  while ((stream = pending->poll()) == nullptr) ASSERT_TRUE(waker->wait());
  wait_head(*stream);
  EXPECT_LE(large.body->wait_stalled(50ms), 200'000U);
  const std::size_t taken = wait_bytes(*stream, 1'000'000).size();
  EXPECT_GE(taken, 1'000'000U);
  EXPECT_LE(large.body->wait_stalled(50ms), taken + 400'000);
}

TEST_F(PolledTransport, RefusesInvalidRequests) {
  ScriptedServer server{[](Peer&) {}};
  connect({.base_url = server.url()});
  EXPECT_THROW((void)start({.target = "no slash"}), std::invalid_argument);
}

}  // namespace
}  // namespace kube::test
