// SPDX-License-Identifier: Apache-2.0
#include "base/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kube::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Url, IsSplitIntoPartsAsWritten) {
  const UrlParts url = split_url("HTTPS://me:p%40@ss@Host:8443/a/b?c=/#d?#e");
  EXPECT_EQ(url.scheme, "HTTPS");
  EXPECT_EQ(url.user_info, "me:p%40@ss");
  EXPECT_EQ(url.authority, "Host:8443");
  EXPECT_EQ(url.path, "/a/b");
  EXPECT_EQ(url.query, "c=/");
  EXPECT_EQ(url.fragment, "d?#e");
}

TEST(Url, HasOnlyThePartsThatAreWritten) {
  const UrlParts host = split_url("host:80");
  EXPECT_EQ(host.scheme, std::nullopt);
  EXPECT_EQ(host.user_info, std::nullopt);
  EXPECT_EQ(host.authority, "host:80");
  EXPECT_EQ(host.path, "");
  EXPECT_EQ(host.query, std::nullopt);
  EXPECT_EQ(host.fragment, std::nullopt);
  // A separator after the authority is not the one of a scheme.
  const UrlParts nested = split_url("host?to=http://x@y");
  EXPECT_EQ(nested.scheme, std::nullopt);
  EXPECT_EQ(nested.user_info, std::nullopt);
  EXPECT_EQ(nested.authority, "host");
  EXPECT_EQ(nested.query, "to=http://x@y");
  EXPECT_EQ(split_url("https://?").query, "");
}

TEST(Url, AuthorityIsSplitIntoHostAndPort) {
  const auto parts = [](std::string_view authority) {
    const auto place = split_authority(authority);
    return place ? std::string{place->host} + " " + std::string{place->port.value_or("none")}
                 : "malformed";
  };
  EXPECT_EQ(parts("host:80"), "host 80");
  EXPECT_EQ(parts("host"), "host none");
  EXPECT_EQ(parts("host:"), "host ");
  EXPECT_EQ(parts(":80"), " 80");
  EXPECT_EQ(parts("[::1]:80"), "::1 80");
  EXPECT_EQ(parts("[::1]"), "::1 none");
  EXPECT_EQ(parts("::1"), "::1 none");
  EXPECT_EQ(parts("[::1"), "malformed");
  EXPECT_EQ(parts("[::1]x"), "malformed");
}

TEST(Url, IsParsed) {
  auto url = parse_url("HTTPS://me:p%40ss@Host.example:8443/a/b?c#d", "http");
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "p@ss");
  EXPECT_EQ(url.host, "Host.example");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.authority, "Host.example:8443");
  EXPECT_EQ(url.path, "/a/b");
  EXPECT_EQ(url.str(), "https://Host.example:8443/a/b");
  url = parse_url("host", "socks5");
  EXPECT_EQ(url.scheme, "socks5");
  EXPECT_EQ(url.port, 1080);
  EXPECT_EQ(url.path, "");
  EXPECT_EQ(parse_url("host:", "http").port, 80);
  EXPECT_EQ(parse_url("https://[fe80::1%25eth0]:1", "http").host, "fe80::1%eth0");
}

TEST(Url, PrintsTheHostWithAndWithoutTheDefaultPort) {
  const Url usual = parse_url("https://[::1]:443", "http");
  EXPECT_EQ(usual.host_and_port(), "[::1]:443");
  EXPECT_EQ(usual.host_header(), "[::1]");
  EXPECT_EQ(usual.authority, "[::1]:443");
  EXPECT_EQ(parse_url("host:443", "http").host_header(), "host:443");
}

TEST(Url, KnowsLoopbackAddresses) {
  for (const char* text : {"LocalHost:1", "127.9.8.7", "https://[::1]:6443", "[::ffff:127.0.0.1]"}) {
    EXPECT_TRUE(parse_url(text, "http").is_loopback()) << text;
  }
  for (const char* text : {"localhost.example", "128.0.0.1", "127.1", "[::2]"}) {
    EXPECT_FALSE(parse_url(text, "http").is_loopback()) << text;
  }
}

TEST(Url, ThatIsInvalidIsRefusedWithoutBeingQuoted) {
  for (const char* text : {"",
                           "://",
                           "http://",
                           "http://:80",
                           "http://a b",
                           "http://a\r\nb",
                           "http://a:0",
                           "http://a:65536",
                           "http://a:x",
                           "http://a:80x",
                           "http://a:80:80",
                           "http://::1",
                           "http://[::1",
                           "http://[::1]x",
                           "http://[host]",
                           "http://[::1%00]",
                           "http://[]",
                           "http://secret%@a",
                           "http://secret:secret@",
                           "http://a%41",
                           "http://\xc3\xa4",
                           "http://a<b>"}) {
    try {
      static_cast<void>(parse_url(text, "http"));
      ADD_FAILURE() << text;
    } catch (const UrlError& error) {
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("secret")));
    }
  }
}

TEST(Url, IsShownWithoutItsPassword) {
  EXPECT_EQ(redacted_url("http://me:pw@p:1/a@b"), "http://me:[redacted]@p:1/a@b");
  EXPECT_EQ(redacted_url("me@p"), "me:[redacted]@p");
  EXPECT_EQ(redacted_url("https://h/x@y"), "https://h/x@y");
}

// RQ-5
TEST(Query, IsParsedInTheOrderSent) {
  EXPECT_THAT(Query{""}.parameters(), IsEmpty());
  const Query query{"a&b=&c=d=e&&f%20g=h+i&a=1"};
  EXPECT_THAT(query.parameters(), ElementsAre(Pair("a", ""), Pair("b", ""), Pair("c", "d=e"),
                                              Pair("f g", "h i"), Pair("a", "1")));
  EXPECT_EQ(query.text("a"), "");
  EXPECT_EQ(query.text("missing"), "");
  EXPECT_THAT(query.all("a"), ElementsAre("", "1"));
  EXPECT_TRUE(query.has("b"));
  EXPECT_FALSE(query.has("missing"));
}

TEST(Query, LeavesOutParametersWithMalformedEscapes) {
  EXPECT_THAT(Query{"a=%2&%zz=b&c=%41"}.parameters(), ElementsAre(Pair("c", "A")));
}

// RQ-5
TEST(Query, HasFlagsThatAreTrueUnlessTheySayOtherwise) {
  const Query query{"a&b=0&c=False&d=no"};
  EXPECT_TRUE(query.flag("a"));
  EXPECT_FALSE(query.flag("b"));
  EXPECT_FALSE(query.flag("c"));
  EXPECT_TRUE(query.flag("d"));
  EXPECT_FALSE(query.flag("missing"));
}

TEST(Query, IsPrintedSortedByNameAndEncoded) {
  Query query;
  EXPECT_EQ(query.str(), "");
  query.add("b", "1 2");
  query.add("a", "z");
  query.add("b&", "+");
  query.add("a", "y");
  EXPECT_EQ(query.str(), "?a=z&a=y&b=1%202&b%26=%2B");
}

}  // namespace
}  // namespace kube::detail
