// SPDX-License-Identifier: Apache-2.0
// HTTP/2 over TLS: streams, windows, PING, GOAWAY.
#include "helpers.hpp"

namespace kube::test {
namespace {

class Http2 : public testing::Test {
 protected:
  TestAuthority authority;

  TransportOptions options(const Http2Server& server) {
    return {.base_url = server.url(), .credentials = trusting(authority)};
  }
};

// RC-21
TEST_F(Http2, IsUsedWhenTheServerAgrees) {
  Http2Request seen;
  Http2Server server{authority.issue_server(), [&](const Http2Request& request) {
                       seen = request;
                       Http2Reply reply{.status = 201, .headers = {{"x-one", "1"}}};
                       reply.body->write("made");
                       reply.body->end();
                       return reply;
                     }};
  auto transport = make_curl_transport(options(server));

  auto stream = transport->open(
      {.method = "POST", .target = "/api?x=1", .headers = {{"X-Mine", "2"}}, .body = "{}"});

  EXPECT_EQ(stream->head().status, 201);
  EXPECT_EQ(*find_header(stream->head().headers, "X-One"), "1");
  EXPECT_EQ(read_all(*stream), "made");
  EXPECT_EQ(seen.headers[":method"], "POST");
  EXPECT_EQ(seen.headers[":path"], "/api?x=1");
  EXPECT_EQ(seen.headers["x-mine"], "2");
  EXPECT_EQ(seen.headers["accept-encoding"], "gzip");
  EXPECT_EQ(seen.headers["content-length"], "2");
  EXPECT_EQ("https://" + seen.headers[":authority"], server.url());
  EXPECT_EQ(seen.body, "{}");
}

}  // namespace
}  // namespace kube::test
