// SPDX-License-Identifier: Apache-2.0
// Establishing connections: names, addresses, sockets, and cancellation in each step.
#include <fcntl.h>
#include <netinet/tcp.h>

#include <set>

#include "helpers.hpp"
#include "names.hpp"

namespace kube::test {
namespace {

std::string with_host(std::string_view host, const ScriptedServer& server) {
  return "http://" + std::string{host} + ":" + std::to_string(server.port());
}

// RC-19: one after another
TEST(Addresses, TheNextIsTriedWhenOneRefuses) {
  ScriptedServer server{answer_ok};
  const FakeName name{"two.test", {"127.0.0.2", "127.0.0.1"}};
  const auto transport = make_http_transport({.base_url = with_host("two.test", server)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
}

TEST(Addresses, TheNextIsTriedWhenOneDoesNotRespond) {
  ScriptedServer server{answer_ok};
  const DeafPort deaf{"127.0.0.2", server.port()};
  const FakeName name{"two.test", {"127.0.0.2", "127.0.0.1"}};
  const auto transport = make_http_transport({.base_url = with_host("two.test", server)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
}

TEST(Addresses, AllFailuresAreNamed) {
  int port = 0;
  {
    ScriptedServer server{answer_ok};
    port = server.port();
  }
  const FakeName name{"two.test", {"127.0.0.2", "127.0.0.3"}};
  const auto transport =
      make_http_transport({.base_url = "http://two.test:" + std::to_string(port)});

  std::string message;
  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kConnect);
  EXPECT_THAT(message, testing::HasSubstr("http://two.test:" + std::to_string(port)));
  EXPECT_THAT(message, testing::HasSubstr("127.0.0.2:" + std::to_string(port) + ": Connection"));
  EXPECT_THAT(message, testing::HasSubstr("127.0.0.3:" + std::to_string(port) + ": Connection"));
}

// Most developers' clusters listen on IPv4 only, whatever localhost resolves to.
TEST(Addresses, LocalhostIsBothFamiliesWithoutALookup) {
  ScriptedServer server{answer_ok};
  const FakeName name{"localhost"};
  const auto transport = make_http_transport({.base_url = with_host("LocalHost", server)});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(name.asked(), 0);
}

// RT-9: by one thread.
TEST(Names, AreLookedUpOnceForAllWaiters) {
  FakeName name{"slow.test"};
  const auto transport = make_http_transport({.base_url = "http://slow.test:1"});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back(
        [&] { EXPECT_EQ(kind_of([&] { (void)transport->open({}); }), Kind::kResolve); });
  }
  ASSERT_TRUE(name.wait_asked());
  const long running = entries("/proc/self/task");
  // A further request does not start a further thread.
  EXPECT_EQ(kind_of([&] { (void)transport->open({.timeout = 50ms}); }), Kind::kTimeout);
  EXPECT_LE(entries("/proc/self/task"), running);

  name.release();
  threads.clear();
  EXPECT_LE(name.asked(), 5);
}

// RT-9: a Runtime without threads starts none for a lookup either, and logs that the loop blocks.
TEST(Names, AreLookedUpByTheProgramsThreadIfThereIsNoOther) {
  ScriptedServer server{answer_ok};
  const FakeName name{"one.test", {"127.0.0.1"}};
  std::vector<std::string> lines;
  const auto runtime = std::make_shared<Runtime>(RuntimeOptions{.threads = 0});
  const auto transport =
      make_http_transport({.base_url = with_host("one.test", server),
                           .log = Logger{[&](LogLevel, std::string_view, std::string_view text) {
                             lines.emplace_back(text);
                           }},
                           .runtime = runtime});
  const long running = entries("/proc/self/task");
  long meanwhile = 0;
  runtime->loop().post([&] { meanwhile = entries("/proc/self/task"); });

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(meanwhile, running);
  EXPECT_EQ(name.asked(), 1);
  EXPECT_THAT(lines, testing::Contains("one.test is looked up on the thread that runs the loop, "
                                       "which blocks meanwhile"));
}

TEST(Names, ThatDoNotExistAreReported) {
  std::string message;
  const auto transport = make_http_transport({.base_url = "https://no-such-host.invalid:6443"});

  for (int i = 0; i < 2; ++i) {  // also the second time
    EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kResolve);
    EXPECT_THAT(message, testing::HasSubstr("https://no-such-host.invalid:6443: the host was not"));
    EXPECT_THAT(message, testing::HasSubstr("check the address"));
  }
}

TEST(Sockets, AreCloseOnExecAndHaveKeepAlive) {
  ScriptedServer server{answer_ok};
  const auto transport =
      make_http_transport({.base_url = server.url(), .tcp_keep_alive = 7s, .tcp_user_timeout = 9s});
  EXPECT_EQ(read_all(*transport->open({})), "ok");

  const auto option = [](int fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(fd, level, name, &value, &size), 0);
    return value;
  };
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    const int fd = std::stoi(file.path().filename());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        ntohs(peer.sin_port) == server.port()) {
      ++found;
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
      EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
      EXPECT_NE(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
      EXPECT_NE(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
      EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 7);
      EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 7);
      EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 9000);
    }
    std::error_code error;
    if (read_symlink(file.path(), error).string().find("eventfd") != std::string::npos) {
      EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    }
  }
  EXPECT_EQ(found, 1);
}

/// The step in which a dial gets stuck.
enum class Step { kLookup, kConnect, kProxyTls, kHttpTunnel, kSocksTunnel, kTls, kTlsInTls };

/// A peer that lets a dial reach a step and then stops responding.
class StuckDial {
 public:
  explicit StuckDial(Step step) : step_(step) {}

  [[nodiscard]] TransportOptions options() const {
    const std::string place = "127.0.0.1:" + std::to_string(silent_.port());
    TransportOptions options{.base_url = "https://api.example:6443",
                             .credentials = trusting(authority_)};
    switch (step_) {
      case Step::kLookup:
        options.base_url = "https://hangs.test:6443";
        break;
      case Step::kConnect:
        options.base_url = deaf_.url();
        break;
      case Step::kTls:
        options.base_url = "https://" + place;
        break;
      case Step::kProxyTls:
        options.proxy_url = "https://" + place;
        break;
      case Step::kHttpTunnel:
        options.proxy_url = "http://" + place;
        break;
      case Step::kSocksTunnel:
        options.proxy_url = "socks5://" + place;
        break;
      case Step::kTlsInTls:
        options.proxy_url = "https://127.0.0.1:" + std::to_string(proxy_.port());
        break;
    }
    return options;
  }

  /// Waits until the dial has reached the step.
  [[nodiscard]] bool wait() {
    if (step_ == Step::kLookup) return name_.wait_asked();
    if (step_ == Step::kConnect) {
      // The loop has two descriptors, for epoll and an eventfd.
      return eventually([&] { return entries("/proc/self/fd") > files_ + 2; });
    }
    return heard_.wait();
  }
  /// Returns whether nothing is left of a canceled dial.
  [[nodiscard]] bool forgotten() {
    name_.release();
    return eventually([&] { return silent_.open() == 0 && proxy_.open() == 0; });
  }
  /// Call before there is a transport.
  void count() { files_ = entries("/proc/self/fd"); }
  [[nodiscard]] bool nothing_left() const {
    return eventually([&] { return entries("/proc/self/fd") == files_; });
  }

 private:
  const Step step_;
  FakeName name_{"hangs.test"};
  const DeafPort deaf_;
  TestAuthority authority_;
  Signal heard_;
  ScriptedServer silent_{[this](Peer& peer) {
    (void)peer.read_some();
    heard_.set();
    peer.wait_for_end();
  }};
  ScriptedServer proxy_{[this](Peer& peer) {
                          (void)peer.read_until("\r\n\r\n");
                          peer.write("HTTP/1.1 200 OK\r\n\r\n");
                          (void)peer.read_some();
                          heard_.set();
                          peer.wait_for_end();
                        },
                        ServerTls{.certificate = authority_.issue_server()}};
  long files_ = 0;
};

class DialStep : public testing::TestWithParam<Step> {
 protected:
  void SetUp() override { stuck.count(); }
  void TearDown() override {
    // The thread of a lookup ends when getaddrinfo() returns.
    EXPECT_TRUE(stuck.forgotten());
    EXPECT_TRUE(eventually([&] { return entries("/proc/self/task") <= threads; }));
  }

  StuckDial stuck{GetParam()};
  const long threads = entries("/proc/self/task");
};

TEST_P(DialStep, CanBeCanceled) {
  {
    const auto transport = make_http_transport(stuck.options());
    std::stop_source stop;
    std::jthread stopper{[&] {
      EXPECT_TRUE(stuck.wait());
      stop.request_stop();
    }};

    EXPECT_EQ(kind_of([&] { (void)transport->open({}, stop.get_token()); }), Kind::kCanceled);
    EXPECT_TRUE(stuck.forgotten());  // while the transport lives
  }
  EXPECT_TRUE(stuck.nothing_left());
}

TEST_P(DialStep, EndsWithItsTransport) {
  auto transport = make_http_transport(stuck.options());
  std::jthread opener{[&, raw = transport.get()] {
    EXPECT_EQ(kind_of([&] { (void)raw->open({}); }), Kind::kCanceled);
  }};
  EXPECT_TRUE(stuck.wait());

  const auto start = std::chrono::steady_clock::now();
  transport.reset();

  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);  // it does not even wait for a lookup
  opener.join();
  EXPECT_TRUE(stuck.nothing_left());
}

TEST_P(DialStep, TakesNoLongerThanAllowed) {
  TransportOptions options = stuck.options();
  const bool in_tls =
      GetParam() == Step::kProxyTls || GetParam() == Step::kTls || GetParam() == Step::kTlsInTls;
  (in_tls ? options.tls_handshake_timeout : options.connect_timeout) = 300ms;
  const auto transport = make_http_transport(options);

  std::string message;
  EXPECT_EQ(kind_of([&] { (void)transport->open({}); }, &message), Kind::kConnect);
  EXPECT_THAT(message, testing::HasSubstr("within 300 ms"));
  static const std::map<Step, const char*> kWhat = {
      {Step::kLookup, "no answer about the host's name"},
      {Step::kConnect, "no connection"},
      {Step::kProxyTls, "no end of the TLS handshake with the proxy"},
      {Step::kHttpTunnel, "no answer of the proxy"},
      {Step::kSocksTunnel, "no answer of the proxy"},
      {Step::kTls, "no end of the TLS handshake within"},
      {Step::kTlsInTls, "no end of the TLS handshake within"}};
  EXPECT_THAT(message, testing::HasSubstr(kWhat.at(GetParam())));
  EXPECT_TRUE(stuck.forgotten());
}

std::string name_of(const testing::TestParamInfo<Step>& step) {
  static const std::map<Step, std::string> kNames = {
      {Step::kLookup, "Lookup"},           {Step::kConnect, "Connect"},
      {Step::kProxyTls, "ProxyTls"},       {Step::kHttpTunnel, "HttpTunnel"},
      {Step::kSocksTunnel, "SocksTunnel"}, {Step::kTls, "Tls"},
      {Step::kTlsInTls, "TlsInTls"}};
  return kNames.at(step.param);
}

INSTANTIATE_TEST_SUITE_P(Each, DialStep,
                         testing::Values(Step::kLookup, Step::kConnect, Step::kProxyTls,
                                         Step::kHttpTunnel, Step::kSocksTunnel, Step::kTls,
                                         Step::kTlsInTls),
                         name_of);

}  // namespace
}  // namespace kube::test
