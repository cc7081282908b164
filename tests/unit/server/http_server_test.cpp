// SPDX-License-Identifier: Apache-2.0
#include "server/http_server.hpp"

#include "front/http2_client.hpp"
#include "front/raw_client.hpp"
#include "testkit/server/tls_authority.hpp"
#include "unit/engine/helpers.hpp"

#include <kube/engine/runtime.hpp>
#include <kube/testkit/fake_clock.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kube::server {
namespace {

using namespace std::chrono_literals;
using test::becomes_true;
using testkit::Http2Client;
using testkit::RawClient;
using testkit::RawResponse;
using testkit::detail::TlsAuthority;

/// Calls a function for each request, and counts incidents.
class TestHandler final : public Handler {
 public:
  using Function = std::function<void(Request, Responder)>;

  std::atomic<bool> streams = false;
  void set(Function on_request) {
    const std::lock_guard guard{mutex_};
    on_request_ = std::make_shared<const Function>(std::move(on_request));
  }

  void handle(Request request, Responder respond) override {
    const auto on_request = [this] {
      const std::lock_guard guard{mutex_};
      return on_request_;
    }();
    (*on_request)(std::move(request), std::move(respond));
  }
  [[nodiscard]] bool streams_body(const Request& /*head*/) const override { return streams; }
  void on_incident(Incident incident) noexcept override {
    const std::lock_guard guard{mutex_};
    ++incidents_[incident];
  }
  [[nodiscard]] int count(Incident incident) const {
    const std::lock_guard guard{mutex_};
    const auto found = incidents_.find(incident);
    return found == incidents_.end() ? 0 : found->second;
  }

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::map<Incident, int> incidents_;
  std::shared_ptr<const Function> on_request_ =
      std::make_shared<const Function>([](Request request, Responder respond) {
        respond(text_reply(200, request.method + ' ' + request.target + ' ' + request.body));
      });
};

/// Pieces that a test hands to a response, from its own thread.
class Pieces {
 public:
  void push(std::string bytes) {
    std::function<void()> wake;
    {
      const std::lock_guard guard{state_->mutex};
      state_->pieces.push_back(std::move(bytes));
      wake = std::exchange(state_->wake, nullptr);
    }
    if (wake) wake();
  }
  void end() {
    std::function<void()> wake;
    {
      const std::lock_guard guard{state_->mutex};
      state_->ended = true;
      wake = std::exchange(state_->wake, nullptr);
    }
    if (wake) wake();
  }
  [[nodiscard]] std::size_t left() const {
    const std::lock_guard guard{state_->mutex};
    return state_->pieces.size();
  }
  [[nodiscard]] std::unique_ptr<BodySource> source() const {
    return std::make_unique<Source>(state_);
  }
  /// Whether the source was destroyed.
  [[nodiscard]] bool is_dropped() const { return state_.use_count() == 1; }

 private:
  struct Shared {
    std::mutex mutex;
    std::deque<std::string> pieces;
    std::function<void()> wake;
    bool ended = false;
  };
  struct Source final : BodySource {
    explicit Source(std::shared_ptr<Shared> of) : state(std::move(of)) {}
    Poll poll(const std::function<void()>& wake) override {
      const std::lock_guard guard{state->mutex};
      if (!state->pieces.empty()) {
        Poll next{State::kChunk, std::move(state->pieces.front())};
        state->pieces.pop_front();
        return next;
      }
      if (state->ended) return {State::kEnd};
      state->wake = wake;
      return {};
    }
    const std::shared_ptr<Shared> state;
  };

  std::shared_ptr<Shared> state_ = std::make_shared<Shared>();
};

/// Reads a streamed request body on the test's thread.
class BodyReader {
 public:
  void take(std::unique_ptr<BodySource> source) {
    const std::lock_guard guard{mutex_};
    source_ = std::move(source);
    arrived_.add();
  }
  [[nodiscard]] bool has_begun() const { return arrived_.reaches(1); }
  /// Returns the next piece; empty at the end.
  std::string next() {
    for (;;) {
      const auto woken = std::make_shared<test::Counter>();
      const auto [state, bytes] = source_->poll([woken] { woken->add(); });
      if (state == BodySource::State::kChunk) return bytes;
      if (state != BodySource::State::kWait) {
        end_ = state;
        return {};
      }
      if (!woken->reaches(1)) throw std::runtime_error("no more of the body arrives");
    }
  }
  std::string rest() {
    std::string all;
    for (std::string piece; !(piece = next()).empty();) all += piece;
    return all;
  }
  [[nodiscard]] BodySource::State end() const noexcept { return end_; }
  void drop() { source_.reset(); }

 private:
  std::mutex mutex_;
  std::unique_ptr<BodySource> source_;
  BodySource::State end_ = BodySource::State::kWait;
  test::Counter arrived_;
};

/// Keeps all requests of a handler until the test answers them.
class KeptRequests {
 public:
  explicit KeptRequests(TestHandler& handler) {
    handler.set([this](Request, Responder respond) {
      const std::lock_guard guard{mutex_};
      responders_.push_back(std::move(respond));
      arrived_.add();
    });
  }

  [[nodiscard]] bool reach(int count) const { return arrived_.reaches(count); }
  void answer_all(const std::string& body) {
    const std::lock_guard guard{mutex_};
    for (Responder& respond : responders_) respond(text_reply(200, body));
  }

 private:
  std::mutex mutex_;
  std::vector<Responder> responders_;  // guarded by mutex_
  test::Counter arrived_;
};

struct ServerUnderTest {
  explicit ServerUnderTest(Limits limits = {}, std::shared_ptr<Certificate> certificate = nullptr,
                           Clock& clock = system_clock())
      : server({.address = "127.0.0.1:0",
                .certificate = std::move(certificate),
                .limits = limits,
                .clock = &clock,
                .loops = {detail::Inside::core(runtime)}},
               handler) {}

  [[nodiscard]] std::uint16_t port() const {
    const std::string& address = server.address();
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  TestHandler handler;
  Runtime runtime{{.threads = 1}};
  HttpServer server;
};

RawResponse get(std::uint16_t port, std::string_view target, const std::string& ca = {}) {
  RawClient client{port, ca};
  client.get(target);
  return client.read_response();
}

// HS-1
TEST(HttpServer, SendsAnswersOfOtherThreads) {
  ServerUnderTest server;
  std::vector<std::jthread> threads;
  server.handler.set([&](Request request, Responder respond) {
    threads.emplace_back([target = request.target, late = std::move(respond)]() mutable {
      late(text_reply(200, "late " + target));
    });
  });
  RawClient client{server.port()};

  for (int i = 0; i < 20; ++i) {
    client.get(fmt::format("/{}", i));
    EXPECT_EQ(client.read_response().body, fmt::format("late /{}", i));
  }

  EXPECT_EQ(server.server.connections(), 1U);
}

// HS-1
TEST(HttpServer, AnswersPipelinedRequestsInTheirOrder) {
  ServerUnderTest server;
  KeptRequests kept{server.handler};
  RawClient client{server.port()};

  client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(kept.reach(1));
  server.handler.set([](Request, Responder respond) { respond(text_reply(200, "at once")); });
  kept.answer_all("later");

  EXPECT_EQ(client.read_response().body, "later");
  EXPECT_EQ(client.read_response().body, "at once");
}

// HS-1
TEST(HttpServer, ReportsAHandlerThatThrowsOrForgets) {
  ServerUnderTest server;
  server.handler.set([](Request request, Responder /*respond*/) {
    if (request.target == "/throws") throw std::runtime_error("secret");
  });

  for (const char* target : {"/throws", "/forgets"}) {
    const RawResponse response = get(server.port(), target);
    EXPECT_EQ(response.status, 500) << target;
    EXPECT_EQ(response.body.find("secret"), std::string::npos);
  }
  Http2Client client{server.port()};
  const std::int32_t id = client.get("/throws");
  client.run_until([&] { return client.stream(id).ended; });
  EXPECT_EQ(client.stream(id).headers.at(":status"), "500");
}

// HS-1
TEST(HttpServer, DropsAnswersOfAConnectionThatHasEnded) {
  ServerUnderTest server;
  KeptRequests kept{server.handler};
  {
    RawClient client{server.port()};
    client.get("/x");
    ASSERT_TRUE(kept.reach(1));
  }
  ASSERT_TRUE(becomes_true([&] { return server.server.connections() == 0; }));

  kept.answer_all("too late");

  server.handler.set([](Request, Responder respond) { respond(text_reply(200, "next")); });
  EXPECT_EQ(get(server.port(), "/x").body, "next");
}

// HS-2: a gigabyte need not fit into memory.
TEST(HttpServer, PassesABodyOnWhileItArrives) {
  ServerUnderTest server;
  server.handler.streams = true;
  BodyReader body;
  std::unique_ptr<Responder> responder;
  server.handler.set([&](Request request, Responder respond) {
    EXPECT_EQ(request.body, "");
    responder = std::make_unique<Responder>(std::move(respond));
    body.take(std::move(request.stream));
  });
  RawClient client{server.port()};

  client.send("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  ASSERT_TRUE(body.has_begun());
  EXPECT_EQ(body.next(), "abc");
  client.send("2\r\nde\r\n");
  EXPECT_EQ(body.next(), "de");
  client.send("0\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(body.next(), "");
  EXPECT_EQ(body.end(), BodySource::State::kEnd);
  server.handler.set([](Request, Responder respond) { respond(text_reply(200, "next")); });
  (*responder)(text_reply(200, "done"));

  EXPECT_EQ(client.read_response().body, "done");
  EXPECT_EQ(client.read_response().body, "next");
}

// HS-2
TEST(HttpServer, DoesNotReadABodyFasterThanItsHandler) {
  constexpr std::size_t kSize = 32 << 20;
  ServerUnderTest server;
  server.handler.streams = true;
  BodyReader body;
  std::unique_ptr<Responder> responder;
  server.handler.set([&](Request request, Responder respond) {
    responder = std::make_unique<Responder>(std::move(respond));
    body.take(std::move(request.stream));
  });
  RawClient client{server.port()};
  std::jthread sender{[&] {
    client.send(fmt::format("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", kSize));
    client.send(std::string(kSize, 'x'));
  }};
  ASSERT_TRUE(body.has_begun());

  std::size_t received = 0;
  std::size_t longest = 0;
  for (std::string piece; !(piece = body.next()).empty();) {
    received += piece.size();
    longest = std::max(longest, piece.size());
  }

  EXPECT_EQ(received, kSize);
  EXPECT_LE(longest, std::size_t{128} << 10);
}

// HS-2: the window of one stream does not stop the others.
TEST(HttpServer, HoldsBackOnlyTheStreamThatIsNotRead) {
  constexpr std::size_t kSize = 3 << 20;
  ServerUnderTest server;
  server.handler.streams = true;
  BodyReader body;
  std::unique_ptr<Responder> responder;
  server.handler.set([&](Request request, Responder respond) {
    if (request.target == "/other") return respond(text_reply(200, "other"));
    responder = std::make_unique<Responder>(std::move(respond));
    body.take(std::move(request.stream));
  });
  Http2Client client{server.port()};
  const std::int32_t upload = client.request("POST", "/upload", std::string(kSize, 'x'));

  const std::int32_t other = client.get("/other");
  client.run_until([&] { return client.stream(other).ended; });
  ASSERT_TRUE(body.has_begun());
  EXPECT_LE(client.stream(upload).uploaded, std::size_t{1} << 20);
  std::string received;
  std::jthread reader{[&] {
    received = body.rest();
    (*responder)(text_reply(200, "done"));
  }};
  client.run_until([&] { return client.stream(upload).ended; });
  reader.join();

  EXPECT_EQ(received.size(), kSize);
  EXPECT_EQ(client.stream(upload).body, "done");
}

// HS-2
TEST(HttpServer, ReportsABodyThatWillNotBeComplete) {
  ServerUnderTest server;
  server.handler.streams = true;
  BodyReader body;
  std::unique_ptr<Responder> responder;
  server.handler.set([&](Request request, Responder respond) {
    responder = std::make_unique<Responder>(std::move(respond));
    body.take(std::move(request.stream));
  });
  {
    RawClient client{server.port()};
    client.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    ASSERT_TRUE(body.has_begun());
    EXPECT_EQ(body.next(), "abc");
  }

  EXPECT_EQ(body.next(), "");
  EXPECT_EQ(body.end(), BodySource::State::kReset);
}

// HS-3: server-sent events, for instance.
TEST(HttpServer, StreamsAResponseWhileItIsMade) {
  ServerUnderTest server;
  Pieces pieces;
  server.handler.set([&](Request, Responder respond) {
    Reply reply;
    reply.headers = {{"Content-Type", "text/event-stream"}};
    reply.source = pieces.source();
    respond(std::move(reply));
  });
  RawClient client{server.port()};
  client.get("/events");
  EXPECT_EQ(client.read_head().headers.at("content-type"), "text/event-stream");

  pieces.push("data: 1\n\n");
  EXPECT_EQ(client.read_chunk(), "data: 1\n\n");
  pieces.push("data: 2\n\n");
  EXPECT_EQ(client.read_chunk(), "data: 2\n\n");
  client.close();

  EXPECT_TRUE(becomes_true([&] { return pieces.is_dropped(); }));
}

// HS-3
TEST(HttpServer, DoesNotPollForAPeerThatDoesNotRead) {
  ServerUnderTest server;
  Pieces pieces;
  constexpr std::size_t kPieces = 1000;
  for (std::size_t i = 0; i < kPieces; ++i) pieces.push(std::string(65536, 'x'));
  server.handler.set([&](Request, Responder respond) {
    Reply reply;
    reply.source = pieces.source();
    respond(std::move(reply));
  });
  RawClient slow{server.port()};
  slow.get("/x");
  (void)slow.read_head();

  server.handler.set([](Request, Responder respond) { respond(text_reply(200, "ok")); });
  EXPECT_EQ(get(server.port(), "/other").body, "ok");

  EXPECT_GT(pieces.left(), kPieces / 2);
}

/// Sends back what it receives; ends at "bye".
class Echo final : public UpgradedStream {
 public:
  void receive(std::string_view bytes) override { received_ += bytes; }
  Poll poll(const std::function<void()>& /*wake*/) override {
    if (!received_.empty()) {
      ended_ = received_.ends_with("bye");
      return {State::kChunk, std::exchange(received_, {})};
    }
    return {ended_ ? State::kEnd : State::kWait};
  }
  void drain() override { ended_ = true; }

 private:
  std::string received_;
  bool ended_ = false;
};

// HS-4
TEST(HttpServer, UpgradesToAnotherProtocol) {
  ServerUnderTest server;
  server.handler.set([](Request, Responder respond) {
    Reply reply;
    reply.status = 101;
    reply.headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}};
    reply.upgrade = std::make_unique<Echo>();
    respond(std::move(reply));
  });
  RawClient client{server.port()};

  client.send(
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst bytes");
  const RawResponse head = client.read_head();
  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.headers.at("upgrade"), "echo");
  EXPECT_EQ(client.read_exactly(11), "first bytes");
  client.send("more");
  EXPECT_EQ(client.read_exactly(4), "more");
  client.send("bye");

  EXPECT_EQ(client.read_to_end(), "bye");
}

// HS-5
TEST(HttpServer, LimitsHeadAndBody) {
  ServerUnderTest server{{.max_head = 1000, .max_headers = 10, .max_body = 100}};
  const auto status_of = [&](const std::string& request) {
    RawClient client{server.port()};
    client.send(request);
    const RawResponse response = client.read_response();
    EXPECT_EQ(client.read_some(), "");  // closed
    return response.status;
  };
  std::string fields;
  for (int i = 0; i < 11; ++i) fields += "X: y\r\n";

  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x')), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n" + fields + "\r\n"), 431);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
                      std::string(101, 'x') + "\r\n"),
            413);
  EXPECT_EQ(status_of("GET / HTTP/3.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET elsewhere HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(server.handler.count(Incident::kLargeHead), 2);
  EXPECT_EQ(server.handler.count(Incident::kLargeBody), 2);
}

// HS-5: exactly when the limit is reached, neither before nor in a busy loop.
TEST(HttpServer, ClosesAnIdleConnectionWhenItsTimeHasCome) {
  testkit::FakeClock clock;
  ServerUnderTest server{{.idle_timeout = 90s}, nullptr, clock};
  RawClient client{server.port()};
  client.get("/x");
  ASSERT_EQ(client.read_response().status, 200);

  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(89s);
  client.get("/y");
  ASSERT_EQ(client.read_response().status, 200);
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(89s);
  EXPECT_EQ(server.server.connections(), 1U);
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(1s);

  EXPECT_EQ(client.read_some(), "");
  EXPECT_EQ(server.handler.count(Incident::kIdle), 1);
}

// HS-5
TEST(HttpServer, LimitsTheTimeOfAnAnswer) {
  testkit::FakeClock clock;
  ServerUnderTest server{{.answer_timeout = 10s}, nullptr, clock};
  KeptRequests kept{server.handler};
  RawClient first{server.port()};
  first.get("/x");
  Http2Client second{server.port()};
  const std::int32_t id = second.get("/y");
  (void)second.run_for(1ms);
  ASSERT_TRUE(kept.reach(2));
  ASSERT_TRUE(clock.wait_for_sleepers(2));

  clock.advance(10s);

  EXPECT_EQ(first.read_response().status, 503);
  second.run_until([&] { return second.stream(id).ended; });
  EXPECT_EQ(second.stream(id).headers.at(":status"), "503");
  kept.answer_all("too late");
  EXPECT_EQ(first.read_some(), "");
  EXPECT_EQ(server.handler.count(Incident::kSlowAnswer), 2);
}

// HS-6
TEST(HttpServer, ShowsThePeerToTheHandler) {
  const TlsAuthority authority;
  const auto own = authority.issue_server("127.0.0.1");
  const auto certificate = std::make_shared<Certificate>(
      TlsConfig{.ca_data = authority.ca_pem(),
                .certificate_data = own.certificate,
                .key_data = own.key},
      true);
  ServerUnderTest server{{}, certificate};
  server.handler.set([](Request request, Responder respond) {
    std::string who = request.peer->certificate ? request.peer->certificate->common_name : "nobody";
    respond(text_reply(200, fmt::format("{} {} {}", who, request.peer->secure,
                                        request.peer->address.substr(0, 10))));
  });
  const auto alice = authority.issue_client("alice", {"admins"});
  RawClient known{server.port(), authority.ca_pem(), alice.certificate, alice.key};
  known.get("/x");

  EXPECT_EQ(known.read_response().body, "alice true 127.0.0.1:");
  EXPECT_EQ(get(server.port(), "/x", authority.ca_pem()).body, "nobody true 127.0.0.1:");
  Http2Client client{server.port(), authority.ca_pem()};
  const std::int32_t id = client.get("/x");
  client.run_until([&] { return client.stream(id).ended; });
  EXPECT_EQ(client.stream(id).body, "nobody true 127.0.0.1:");
}

struct CertificateFiles {
  CertificateFiles() : folder(testing::TempDir() + fmt::format("server-{}", ::getpid())) {
    std::filesystem::create_directories(folder);
  }
  ~CertificateFiles() { std::filesystem::remove_all(folder); }
  void write(const std::string& certificate, const std::string& key) const {
    std::ofstream{folder + "/tls.crt"} << certificate;
    std::ofstream{folder + "/tls.key"} << key;
  }
  const std::string folder;
};

// HS-6: as a Secret that cert-manager renews.
TEST(HttpServer, UsesRenewedCertificateFiles) {
  const TlsAuthority old_authority;
  const TlsAuthority new_authority;
  const auto first = old_authority.issue_server("127.0.0.1");
  const auto second = new_authority.issue_server("127.0.0.1");
  const CertificateFiles files;
  files.write(first.certificate, first.key);
  testkit::FakeClock clock;
  ServerUnderTest server{
      {},
      std::make_shared<Certificate>(TlsConfig{.certificate_file = files.folder + "/tls.crt",
                                              .key_file = files.folder + "/tls.key"},
                                    true, clock),
      clock};
  ASSERT_EQ(get(server.port(), "/x", old_authority.ca_pem()).status, 200);

  files.write(second.certificate, "half a key");
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  clock.advance(11s);
  ASSERT_TRUE(clock.wait_for_sleepers(1));
  EXPECT_EQ(get(server.port(), "/x", old_authority.ca_pem()).status, 200);
  files.write(second.certificate, second.key);
  const auto renewed = [&] {
    clock.advance(11s);
    try {
      return get(server.port(), "/x", new_authority.ca_pem()).status == 200;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  EXPECT_TRUE(becomes_true(renewed));
}

// HS-6
TEST(HttpServer, UsesACertificateThatIsReplacedInMemory) {
  const TlsAuthority old_authority;
  const TlsAuthority new_authority;
  const auto first = old_authority.issue_server("127.0.0.1");
  const auto second = new_authority.issue_server("127.0.0.1");
  const auto certificate = std::make_shared<Certificate>(
      TlsConfig{.certificate_data = first.certificate, .key_data = first.key}, true);
  ServerUnderTest server{{}, certificate};
  ASSERT_EQ(get(server.port(), "/x", old_authority.ca_pem()).status, 200);

  EXPECT_THROW(certificate->replace(second.certificate, first.key), Error);
  EXPECT_EQ(get(server.port(), "/x", old_authority.ca_pem()).status, 200);
  certificate->replace(second.certificate, second.key);

  EXPECT_EQ(get(server.port(), "/x", new_authority.ca_pem()).status, 200);
}

// HS-6
TEST(HttpServer, RefusesAnUnusableCertificate) {
  EXPECT_THROW(Certificate({.certificate_data = "no certificate", .key_data = "no key"}, true),
               Error);
  EXPECT_THROW(Certificate({.certificate_file = "/no/such/file", .key_file = "/no/such/key"}, true),
               Error);
}

// HS-7
TEST(HttpServer, FinishesRequestsWhenItDrains) {
  ServerUnderTest server;
  KeptRequests kept{server.handler};
  RawClient busy{server.port()};
  RawClient idle{server.port()};
  busy.get("/x");
  ASSERT_TRUE(kept.reach(1));
  std::jthread draining{[&] { server.server.drain(10s); }};
  EXPECT_EQ(idle.read_some(), "");

  kept.answer_all("done");
  const RawResponse response = busy.read_response();
  busy.close();
  draining.join();

  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(server.server.connections(), 0U);
  EXPECT_THROW(RawClient{server.port()}, std::runtime_error);
}

// HS-7: a program may have stopped its own loop before it destroys the server.
TEST(HttpServer, EndsOnALoopThatNobodyRuns) {
  Runtime runtime{{.threads = 0}};
  TestHandler handler;
  auto server = std::make_unique<HttpServer>(
      HttpServerOptions{.address = "127.0.0.1:0", .loops = {detail::Inside::core(runtime)}},
      handler);
  const std::string address = server->address();
  RawClient client{static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))};
  while (server->connections() == 0) runtime.loop().run_ready();

  server.reset();

  EXPECT_EQ(client.read_some(), "");
}

// HS-8
TEST(HttpServer, DistributesConnectionsOverItsLoops) {
  Runtime first{{.threads = 1}};
  Runtime second{{.threads = 1}};
  TestHandler handler;
  std::mutex mutex;
  std::map<std::thread::id, int> threads;
  handler.set([&](Request, Responder respond) {
    {
      const std::lock_guard guard{mutex};
      ++threads[std::this_thread::get_id()];
    }
    respond(text_reply(200, "ok"));
  });
  const HttpServer server{{.address = "127.0.0.1:0",
                           .loops = {detail::Inside::core(first), detail::Inside::core(second)}},
                          handler};
  const auto port = static_cast<std::uint16_t>(
      std::stoi(server.address().substr(server.address().rfind(':') + 1)));

  for (int i = 0; i < 10; ++i) EXPECT_EQ(get(port, "/x").body, "ok");

  ASSERT_EQ(threads.size(), 2U);
  for (const auto& [thread, count] : threads) EXPECT_EQ(count, 5);
}

}  // namespace
}  // namespace kube::server
