// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 over plain sockets: what goes over the wire, and what becomes of answers, good and bad.
#include "helpers.hpp"

namespace kube::test {
namespace {

TEST(Http1, SendsTheRequestAndReadsTheAnswer) {
  std::string head, body;
  ScriptedServer server{[&](Peer& peer) {
    head = peer.read_request();
    body = peer.body();
    peer.respond("201 Created", "made", "X-One: 1\r\nx-two:  2 \r\n");
  }};
  auto transport = make_curl_transport({.base_url = server.url() + "/prefix/"});

  auto stream = transport->open({.method = "POST",
                                 .target = "/api/v1/pods?limit=5",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = "{}"});

  EXPECT_EQ(stream->head().status, 201);
  EXPECT_EQ(*find_header(stream->head().headers, "X-ONE"), "1");
  EXPECT_EQ(*find_header(stream->head().headers, "X-Two"), "2");
  EXPECT_EQ(read_all(*stream), "made");
  EXPECT_TRUE(stream->read().empty());
  EXPECT_THAT(head,
              testing::StartsWith("POST /prefix/api/v1/pods?limit=5 HTTP/1.1\r\nHost: 127.0.0.1:" +
                                  std::to_string(server.port()) + "\r\n"));
  EXPECT_THAT(head, testing::HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(head, testing::HasSubstr("Accept-Encoding: gzip\r\n"));
  EXPECT_EQ(body, "{}");
}

TEST(Http1, ReadsChunksAsTheyArrive) {
  Signal first_was_read;
  ScriptedServer server{[&](Peer& peer) {
    (void)peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("one"));
    EXPECT_TRUE(first_was_read.wait());
    peer.write(chunk("two") + "0\r\nX-Trailer: 1\r\n\r\n");
    answer_ok(peer);
  }};
  auto transport = make_curl_transport({.base_url = server.url()});

  auto stream = transport->open({});
  EXPECT_EQ(stream->read(), "one");
  first_was_read.set();
  EXPECT_EQ(stream->read(), "two");
  EXPECT_TRUE(stream->read().empty());

  auto next = transport->open({});  // on the same connection
  EXPECT_EQ(read_all(*next), "ok");
  EXPECT_EQ(server.accepted(), 1);
}

}  // namespace
}  // namespace kube::test
