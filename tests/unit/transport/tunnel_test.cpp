// SPDX-License-Identifier: Apache-2.0
// Proxy replies, byte by byte, and the addresses of server and proxy.
#include "../../../src/transport/tunnel.hpp"

#include "helpers.hpp"

namespace kube::test {
namespace {

using detail::make_tunnel;
using detail::Origin;
using detail::parse_origin;
using detail::Tunnel;
using namespace std::string_literals;

Origin origin_of(const std::string& proxy, const std::string& url = "https://api.example:6443") {
  return parse_origin({.base_url = url, .proxy_url = proxy});
}

/// Returns the tunnel's pending output and marks it as sent.
std::string said(Tunnel& tunnel) {
  std::string bytes{tunnel.output()};
  tunnel.sent(bytes.size());
  return bytes;
}

/// Feeds the bytes one by one. Returns whether the tunnel is open after the last one.
bool feed(Tunnel& tunnel, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool done = tunnel.receive(bytes.substr(i, 1));
    if (done) return i + 1 == bytes.size();
  }
  return false;
}

TEST(HttpTunnel, IsMadeWithConnect) {
  const Origin origin = origin_of("http://proxy.example", "https://[fd00::1]");
  const auto tunnel = make_tunnel(origin);

  EXPECT_EQ(said(*tunnel), "CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\n\r\n");
  EXPECT_TRUE(feed(*tunnel, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 204 Fine\r\nX: y\r\n\r\n"));
}

TEST(HttpTunnel, BadAnswersAreRefused) {
  const Origin origin = origin_of("http://proxy.example");
  for (const std::string& answer :
       {"SSH-2.0-OpenSSH\r\n"s, "H"s + "X", "HTTP/1.1\r\n\r\n"s, "HTTP/1.1 abc\r\n\r\n"s,
        "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"s, "HTTP/1.1 200 OK\r\n\r\nmore"s,
        "HTTP/1.1 200 OK\r\nX: "s + std::string(20'000, 'x'), std::string(100, '\0')}) {
    const auto tunnel = make_tunnel(origin);
    EXPECT_EQ(kind_of([&] { (void)tunnel->receive(answer); }), Kind::kProxy)
        << answer.substr(0, 30);
  }
}

TEST(SocksTunnel, SendsTheNameOrTheAddress) {
  const Origin name = origin_of("socks5h://proxy.example");
  auto tunnel = make_tunnel(name);
  EXPECT_EQ(said(*tunnel), "\5\1\0"s);
  EXPECT_FALSE(feed(*tunnel, "\5\0"s));
  EXPECT_EQ(said(*tunnel), "\5\1\0\3\13api.example\x19\x2b"s);
  EXPECT_TRUE(feed(*tunnel, "\5\0\0\3\4bind\x12\x34"s));

  const Origin v4 = origin_of("socks5://proxy.example", "https://10.1.2.3");
  tunnel = make_tunnel(v4);
  (void)said(*tunnel);
  EXPECT_FALSE(feed(*tunnel, "\5\0"s));
  EXPECT_EQ(said(*tunnel), "\5\1\0\1\12\1\2\3\1\xbb"s);
  EXPECT_TRUE(feed(*tunnel, "\5\0\0\4"s + std::string(18, 'x')));

  const Origin v6 = origin_of("socks5://proxy.example", "https://[::1]");
  tunnel = make_tunnel(v6);
  (void)said(*tunnel);
  EXPECT_FALSE(feed(*tunnel, "\5\0"s));
  EXPECT_EQ(said(*tunnel), "\5\1\0\4"s + std::string(15, '\0') + "\1\1\xbb");
}

TEST(SocksTunnel, SendsUserAndPassword) {
  const Origin origin = origin_of("socks5://me:pass%20word@proxy.example");
  const auto tunnel = make_tunnel(origin);

  EXPECT_EQ(said(*tunnel), "\5\2\0\2"s);
  EXPECT_FALSE(feed(*tunnel, "\5\2"s));
  EXPECT_EQ(said(*tunnel), "\1\2me\11pass word"s);
  EXPECT_FALSE(feed(*tunnel, "\1\0"s));
  EXPECT_THAT(said(*tunnel), testing::StartsWith("\5\1\0\3"s));
}

TEST(SocksTunnel, BadAnswersAreRefused) {
  const auto refused = [](const std::string& proxy, const std::vector<std::string>& answers) {
    const Origin origin = origin_of(proxy);
    const auto tunnel = make_tunnel(origin);
    std::string message;
    EXPECT_EQ(kind_of(
                  [&] {
                    for (const std::string& answer : answers) {
                      (void)said(*tunnel);
                      (void)tunnel->receive(answer);
                    }
                  },
                  &message),
              Kind::kProxy);
    EXPECT_THAT(message, testing::Not(testing::HasSubstr("secret")));
    return message;
  };
  const std::string open = "socks5://proxy.example";
  const std::string locked = "socks5://me:secret@proxy.example";
  refused(open, {"HTTP/1.1 400"});
  refused(open, {"\4"});
  refused(open, {"\5\2"s});  // not offered
  EXPECT_THAT(refused(open, {"\5\xff"s}), testing::HasSubstr("wants a user and a password"));
  EXPECT_THAT(refused(locked, {"\5\xff"s}), testing::HasSubstr("another kind"));
  EXPECT_THAT(refused(locked, {"\5\2"s, "\1\1"s}), testing::HasSubstr("does not accept user"));
  refused(locked, {"\5\2"s, "\5\0"s});
  refused(open, {"\5\0more"s});
  EXPECT_THAT(refused(open, {"\5\0"s, "\5\5"s}), testing::HasSubstr("connection refused"));
  refused(open, {"\5\0"s, "\5\x63\0\1"s});
  refused(open, {"\5\0"s, "\5\0\0\2xxxxxx"s});
  refused(open, {"\5\0"s, "\5\0\0\1\1\1\1\1\1\1more"s});
}

TEST(SocksTunnel, OverlongFieldsAreRefusedInAdvance) {
  EXPECT_EQ(kind_of([] { origin_of("socks5://me:" + std::string(256, 'x') + "@proxy.example"); }),
            Kind::kProtocol);
}

TEST(Origin, HasTheServerWithoutZoneAndTrailingSlashes) {
  const Origin origin = parse_origin({.base_url = "[fe80::1%25eth0]/x//"});
  EXPECT_EQ(origin.server.host_header(), "[fe80::1]");
  EXPECT_EQ(origin.server.path, "/x");
  EXPECT_EQ(origin.name, "https://[fe80::1]:443");
}

TEST(Origin, NamesTheAddressThatIsNotAUrlAndDoesNotQuoteIt) {
  std::string message;
  EXPECT_EQ(kind_of([] { origin_of("http://secret%@proxy"); }, &message), Kind::kProtocol);
  EXPECT_EQ(message,
            "the address of the proxy is not a URL: a % in it is not followed by two digits");
  EXPECT_EQ(kind_of([] { origin_of({}, "https://secret:secret@"); }, &message), Kind::kProtocol);
  EXPECT_EQ(message, "the address of the server is not a URL: there is no host in it");
}

}  // namespace
}  // namespace kube::test
