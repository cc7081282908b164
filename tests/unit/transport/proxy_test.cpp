// SPDX-License-Identifier: Apache-2.0
// Proxies and the environment.
#include "../../../src/transport/proxy.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "helpers.hpp"

namespace kube::test {
namespace {

using detail::excluded_from_proxy;

/// Sets environment variables during a test, and unsets all other proxy variables.
class WithVariables {
 public:
  explicit WithVariables(const std::map<std::string, std::string>& variables) {
    for (const char* name :
         {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy",
          "DISABLE_HTTP2", "HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS"}) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
      names_.emplace_back(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~WithVariables() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

/// Copies bytes between two connections until one side closes.
void relay(Peer& peer, int other) {
  std::array<char, 16384> bytes;
  while (true) {
    std::array<pollfd, 2> fds = {{{peer.socket(), POLLIN, 0}, {other, POLLIN, 0}}};
    const bool pending = peer.ssl() != nullptr && SSL_pending(peer.ssl()) > 0;
    ::poll(fds.data(), fds.size(), pending ? 0 : -1);
    if (pending || fds[0].revents != 0) {
      const std::string more = peer.read_some();
      if (more.empty() || ::send(other, more.data(), more.size(), MSG_NOSIGNAL) < 0) break;
    }
    if (fds[1].revents != 0) {
      const auto size = ::recv(other, bytes.data(), bytes.size(), 0);
      if (size <= 0 || !peer.write({bytes.data(), static_cast<std::size_t>(size)})) break;
    }
  }
  ::close(other);
}

int connect_to(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

class Proxy : public testing::Test {
 protected:
  TestAuthority authority;
  ScriptedServer server{
      answer_ok, ServerTls{.certificate = authority.issue_server({.names = {"api.example"}})}};
  std::string request;

  /// The server, under a name that only the proxy can resolve.
  std::string url = "https://api.example:6443";

  ScriptedServer::Script tunnel() {
    return [this](Peer& peer) {
      request = peer.read_until("\r\n\r\n");
      peer.write("HTTP/1.1 200 Connection established\r\n\r\n");
      relay(peer, connect_to(server.port()));
    };
  }
  std::string ask(const std::string& proxy) {
    const auto transport = make_http_transport(
        {.base_url = url, .credentials = trusting(authority), .proxy_url = proxy});
    return read_all(*transport->open({}));
  }
};

// RC-20
TEST_F(Proxy, OfHttpTunnels) {
  ScriptedServer proxy{tunnel()};

  EXPECT_EQ(ask("http://me:word@127.0.0.1:" + std::to_string(proxy.port())), "ok");
  EXPECT_THAT(request, testing::StartsWith("CONNECT api.example:6443 HTTP/1.1\r\n"));
  EXPECT_THAT(request, testing::HasSubstr("Proxy-Authorization: Basic bWU6d29yZA=="));
}

// RC-20
TEST_F(Proxy, OfHttpsTunnels) {
  ScriptedServer proxy{
      tunnel(), ServerTls{.certificate = authority.issue_server(), .alpn = {"h2", "http/1.1"}}};

  EXPECT_EQ(ask("https://127.0.0.1:" + std::to_string(proxy.port())), "ok");
}

// RC-20
TEST_F(Proxy, OfSocks5Tunnels) {
  std::string name;
  ScriptedServer proxy{[&](Peer& peer) {
    (void)peer.read_some();
    peer.write({"\5\0", 2});
    name = peer.read_some();
    peer.write({"\5\0\0\1\0\0\0\0\0\0", 10});
    relay(peer, connect_to(server.port()));
  }};

  EXPECT_EQ(ask("socks5://127.0.0.1:" + std::to_string(proxy.port())), "ok");
  EXPECT_THAT(name, testing::HasSubstr("api.example"));  // the proxy resolves it
}

// RC-20
TEST_F(Proxy, OfSocks5AsksForUserAndPassword) {
  std::string user;
  ScriptedServer proxy{[&](Peer& peer) {
    EXPECT_EQ(peer.read_some(), std::string("\5\2\0\2", 4));
    peer.write("\5\2");
    user = peer.read_some();
    peer.write({"\1\0", 2});
    (void)peer.read_some();
    peer.write({"\5\0\0\1\0\0\0\0\0\0", 10});
    relay(peer, connect_to(server.port()));
  }};

  EXPECT_EQ(ask("socks5://me:word@127.0.0.1:" + std::to_string(proxy.port())), "ok");
  EXPECT_EQ(user, "\1\2me\4word");
}

TEST_F(Proxy, OfSocks5ThatRefusesIsNamed) {
  std::string message;
  ScriptedServer denies{[&](Peer& peer) {
    (void)peer.read_some();
    peer.write("\5\2");
    (void)peer.read_some();
    peer.write("\1\1");
    peer.wait_for_end();
  }};
  EXPECT_EQ(
      kind_of([&] { ask("socks5://me:secretword@127.0.0.1:" + std::to_string(denies.port())); },
              &message),
      Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("https://api.example:6443: the proxy does not accept"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("secretword")));

  ScriptedServer cannot{[&](Peer& peer) {
    (void)peer.read_some();
    peer.write({"\5\0", 2});
    (void)peer.read_some();
    peer.write({"\5\4\0\1\0\0\0\0\0\0", 10});
    peer.wait_for_end();
  }};
  EXPECT_EQ(kind_of([&] { ask("socks5://127.0.0.1:" + std::to_string(cannot.port())); }, &message),
            Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("host unreachable"));
}

TEST_F(Proxy, ThatWantsAUserIsNamed) {
  std::string message;
  ScriptedServer wants{[](Peer& peer) {
    (void)peer.read_until("\r\n\r\n");
    peer.respond("407 Proxy Authentication Required", "long text", "Proxy-Authenticate: Basic\r\n");
  }};
  const std::string place = "127.0.0.1:" + std::to_string(wants.port());
  EXPECT_EQ(kind_of([&] { ask("http://" + place); }, &message), Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("the proxy wants a user and a password"));
  EXPECT_THAT(message, testing::HasSubstr("407 Proxy Authentication Required"));
  EXPECT_EQ(kind_of([&] { ask("http://me:secretword@" + place); }, &message), Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("does not accept user and password"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("secretword")));
}

// The client certificate is for the server; it must not be sent to a proxy.
TEST_F(Proxy, OfHttpsIsVerifiedAndDoesNotSeeTheClientsCertificate) {
  std::string message, seen = "?";
  {
    const TestAuthority other;
    ScriptedServer proxy{tunnel(), ServerTls{.certificate = other.issue_server()}};
    EXPECT_EQ(kind_of([&] { ask("https://127.0.0.1:" + std::to_string(proxy.port())); }, &message),
              Kind::kTls);
    EXPECT_THAT(message, testing::HasSubstr("the proxy's certificate is signed by an unknown"));
  }
  const auto script = [this, &seen, tunnel = tunnel()](Peer& peer) {
    X509* const shown = SSL_get1_peer_certificate(peer.ssl());
    seen = shown == nullptr ? "none" : "some";
    X509_free(shown);
    tunnel(peer);
  };
  ScriptedServer proxy{script, ServerTls{.certificate = authority.issue_server(),
                                         .client_ca = authority.certificate(),
                                         .client_may_be_anonymous = true}};
  const CertifiedKey mine = authority.issue_client({.common_name = "jane"});
  const auto transport = make_http_transport(
      {.base_url = url,
       .credentials = std::make_shared<SetCredentials>(TlsMaterial{.ca = authority.certificate(),
                                                                   .has_ca = true,
                                                                   .certificate = mine.certificate,
                                                                   .key = mine.key}),
       .proxy_url = "https://127.0.0.1:" + std::to_string(proxy.port())});

  EXPECT_EQ(read_all(*transport->open({})), "ok");
  EXPECT_EQ(seen, "none");
}

TEST_F(Proxy, ThatClosesOrSendsGarbageIsNamed) {
  std::string message;
  for (const std::string& answer : {std::string{}, std::string{"220 smtp.example ready\r\n"},
                                    "HTTP/1.1 200 OK\r\n" + std::string(100'000, 'x')}) {
    ScriptedServer proxy{[&](Peer& peer) {
      (void)peer.read_until("\r\n\r\n");
      peer.write(answer);
    }};
    EXPECT_EQ(kind_of([&] { ask("http://127.0.0.1:" + std::to_string(proxy.port())); }, &message),
              Kind::kProxy)
        << message;
  }
}

TEST_F(Proxy, ThatIsNotThereIsNamed) {
  std::string message;
  int port = 0;
  {
    ScriptedServer gone{answer_ok};
    port = gone.port();
  }
  EXPECT_EQ(kind_of([&] { ask("http://127.0.0.1:" + std::to_string(port)); }, &message),
            Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("the proxy cannot be reached"));
}

TEST_F(Proxy, ThatRefusesIsNamed) {
  std::string message;
  ScriptedServer refuses{[](Peer& peer) {
    (void)peer.read_until("\r\n\r\n");
    peer.respond("403 Forbidden", "");
  }};
  const std::string proxy = "http://me:secretword@127.0.0.1:" + std::to_string(refuses.port());
  EXPECT_EQ(kind_of([&] { ask(proxy); }, &message), Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("the proxy refuses"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("secretword")));
  EXPECT_EQ(kind_of([&] { ask("http://no-such-proxy.invalid:3128"); }, &message), Kind::kProxy);
  EXPECT_THAT(message, testing::HasSubstr("no-such-proxy.invalid"));
}

// RC-20
TEST_F(Proxy, ComesFromTheEnvironment) {
  ScriptedServer proxy{tunnel()};
  const std::string address = "http://127.0.0.1:" + std::to_string(proxy.port());
  {
    const WithVariables variables{{{"HTTPS_PROXY", address}, {"NO_PROXY", "other.example"}}};
    EXPECT_EQ(ask(""), "ok");
  }
  const WithVariables variables{{{"https_proxy", address}, {"no_proxy", ".example"}}};
  EXPECT_EQ(kind_of([&] { ask(""); }), Kind::kResolve);  // direct connection
}

// RC-20
TEST(NoProxy, CoversNamesAddressesAndNetworks) {
  EXPECT_TRUE(excluded_from_proxy("*", "any.example", 443));
  EXPECT_TRUE(excluded_from_proxy("a, example.com", "example.com", 443));
  EXPECT_TRUE(excluded_from_proxy("Example.COM", "api.example.com.", 443));
  EXPECT_FALSE(excluded_from_proxy("example.com", "notexample.com", 443));
  EXPECT_FALSE(excluded_from_proxy(".example.com", "example.com", 443));
  EXPECT_TRUE(excluded_from_proxy(".example.com", "api.example.com", 443));
  EXPECT_TRUE(excluded_from_proxy("*.example.com", "api.example.com", 443));
  EXPECT_TRUE(excluded_from_proxy("example.com:443", "example.com", 443));
  EXPECT_FALSE(excluded_from_proxy("example.com:80", "example.com", 443));
  EXPECT_TRUE(excluded_from_proxy("10.0.0.0/8", "10.1.2.3", 443));
  EXPECT_FALSE(excluded_from_proxy("10.0.0.0/8", "11.1.2.3", 443));
  EXPECT_TRUE(excluded_from_proxy("192.168.64.0/18", "192.168.127.1", 443));
  EXPECT_FALSE(excluded_from_proxy("192.168.64.0/18", "192.168.128.1", 443));
  EXPECT_TRUE(excluded_from_proxy("0.0.0.0/0", "8.8.8.8", 443));
  EXPECT_TRUE(excluded_from_proxy("fd00::/8", "[fd12::1]", 443));
  EXPECT_TRUE(excluded_from_proxy("fd12::1", "[fd12::1]", 443));
  EXPECT_TRUE(excluded_from_proxy("10.1.2.3", "10.1.2.3", 443));
  EXPECT_TRUE(excluded_from_proxy("10.1.2.3:6443", "10.1.2.3", 6443));
  EXPECT_FALSE(excluded_from_proxy("10.1.2.3:6443", "10.1.2.3", 443));
  EXPECT_FALSE(excluded_from_proxy("10.0.0.0/99,10.0.0.0/x,/,:,..", "10.1.2.3", 443));
  EXPECT_FALSE(excluded_from_proxy("", "10.1.2.3", 443));
  EXPECT_TRUE(excluded_from_proxy("", "localhost", 443));
  EXPECT_TRUE(excluded_from_proxy("", "127.0.0.9", 443));
  EXPECT_TRUE(excluded_from_proxy("", "[::1]", 443));
}

// RC-21
TEST(Environment, SetsHealthChecks) {
  const WithVariables variables{{{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "0"},
                                 {"HTTP2_PING_TIMEOUT_SECONDS", "7"},
                                 {"DISABLE_HTTP2", "yes"}}};
  const TransportOptions options = with_environment({});

  EXPECT_EQ(options.read_idle_timeout, 0s);
  EXPECT_EQ(options.ping_timeout, 7s);
  EXPECT_TRUE(options.disable_http2);
}

// RC-21
TEST(Environment, BadNumbersAreLoggedAndIgnored) {
  for (const char* bad : {"soon", "-1", "1.5", "99999999999999999999", " "}) {
    const WithVariables variables{{{"HTTP2_READ_IDLE_TIMEOUT_SECONDS", bad}}};
    std::string log;
    const TransportOptions options = with_environment(
        {.log = Logger{[&](LogLevel level, std::string_view, std::string_view message) {
           EXPECT_EQ(level, LogLevel::kWarning);
           log = message;
         }}});

    EXPECT_EQ(options.read_idle_timeout, 30s) << bad;
    EXPECT_THAT(log, testing::HasSubstr("HTTP2_READ_IDLE_TIMEOUT_SECONDS"));
  }
  const WithVariables none{{}};
  const TransportOptions options = with_environment({});
  EXPECT_EQ(options.read_idle_timeout, 30s);
  EXPECT_EQ(options.ping_timeout, 15s);
  EXPECT_FALSE(options.disable_http2);
}

}  // namespace
}  // namespace kube::test
