// SPDX-License-Identifier: Apache-2.0
#include "server/listener.hpp"

#include "server/query.hpp"

#include <kube/base/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kube::server {
namespace {

std::string refusal_of(const std::string& address) {
  try {
    const detail::FileDescriptor socket = listen_on(address);
    return "listens on " + local_address(socket.get());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Listener, NamesTheAddressThatItCannotUse) {
  const detail::FileDescriptor socket = listen_on("127.0.0.1:0");
  for (const std::string& address :
       {local_address(socket.get()), std::string{"8080"}, std::string{"127.0.0.1:"},
        std::string{"::1:80"}, std::string{"127.0.0.1:http-or-so"},
        std::string{"no.such.host.invalid:80"}}) {
    EXPECT_NE(refusal_of(address).find("cannot listen on \"" + address + '"'), std::string::npos)
        << refusal_of(address);
  }
}

// ":99999" used to listen on another port, the number modulo 65536.
TEST(Listener, RejectsInvalidPorts) {
  for (const std::string address :
       {":99999", ":65536", "127.0.0.1:-1", "127.0.0.1:+80", ":0x50", ": 80", "127.0.0.1:80 ",
        ":http", ":", ":000000", "[::1]", "127.0.0.1:4294967376", "\x1b:1x"}) {
    const std::string message = refusal_of(address);
    EXPECT_NE(message.find("cannot listen on "), std::string::npos) << message;
    EXPECT_NE(message.find("127.0.0.1:8080"), std::string::npos) << message;
    EXPECT_EQ(message.find('\x1b'), std::string::npos) << message;
  }
  EXPECT_EQ(refusal_of("127.0.0.1:65536"),
            "cannot listen on \"127.0.0.1:65536\": the port is not a number from 0 to 65535; "
            "write <host>:<port>, for example 127.0.0.1:8080, [::1]:8080 or :8080 for all "
            "addresses");
  EXPECT_EQ(parse_listen_address("[::1]:65535").port, "65535");
}

TEST(Query, DecodesNamesAndValues) {
  using Query = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(parse_query(""), Query{});
  EXPECT_EQ(parse_query("a&b=&c=d=e&&f%20g=h+i%2"),
            (Query{{"a", ""}, {"b", ""}, {"c", "d=e"}, {"f g", "h i%2"}}));
}

TEST(Query, IsWhatFollowsTheFirstQuestionMark) {
  EXPECT_EQ(split_target("/a/b").path, "/a/b");
  EXPECT_EQ(split_target("/a/b").query, "");
  EXPECT_EQ(split_target("/a?b=?").path, "/a");
  EXPECT_EQ(split_target("/a?b=?").query, "b=?");
}

}  // namespace
}  // namespace kube::server
