// SPDX-License-Identifier: Apache-2.0
#include "front_fixture.hpp"
#include "http2_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

// The server survives any input: valid traffic with random damage, from fixed seeds.
namespace kube::testkit::detail {
namespace {

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return random() % std::max<std::size_t>(bound, 1); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + below(8));
        break;
      case 2:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
        break;
      default:
        bytes.insert(at, 1 + below(16), static_cast<char>(random()));
        break;
    }
    if (bytes.empty()) bytes = "x";
  }
  return bytes;
}

void survive(const std::string& valid) {
  FrontUnderTest server;
  server.handler.answer = [&](const ServerRequest& request) {
    if (request.target.starts_with("/watch")) return ServerResponse{.stream = server.script.open()};
    return ServerResponse{.body = request.body};
  };
  std::mt19937 random{7};
  for (int i = 0; i < 300; ++i) {
    RawClient client{server.port()};
    client.send(damaged(valid, random));
    if (i % 3 == 0) (void)client.readable(std::chrono::milliseconds{1});
  }

  RawClient client{server.port()};
  client.post("/x", "alive");
  EXPECT_EQ(client.read_response().body, "alive");
}

TEST(HttpFront, SurvivesDamagedHttp1) {
  survive(
      "POST /a?b=c HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nAccept-Encoding: "
      "gzip\r\n\r\nhello"
      "PUT /chunked HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: "
      "chunked\r\n\r\n4\r\nwiki\r\n0\r\n\r\n"
      "POST /slow HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok"
      "GET /watch HTTP/1.1\r\nHost: test\r\n\r\n"
      "GET /behind HTTP/1.1\r\nHost: test\r\n\r\n");
}

TEST(HttpFront, SurvivesDamagedHttp2) {
  // The bytes that a client sends, recorded with nghttp2.
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, callbacks, nullptr);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  const auto field = [](std::string_view name, std::string_view value) {
    return nghttp2_nv{reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
                      value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  for (const std::string_view target : {"/a", "/watch", "/b"}) {
    const nghttp2_nv fields[] = {field(":method", "GET"), field(":scheme", "http"),
                                 field(":authority", "test"), field(":path", target),
                                 field("user-agent", "damage/1.0")};
    nghttp2_submit_request(session, nullptr, fields, 5, nullptr, nullptr);
  }
  nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, nullptr);
  nghttp2_submit_window_update(session, NGHTTP2_FLAG_NONE, 0, 1000);
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, 3, NGHTTP2_CANCEL);
  std::string valid;
  const std::uint8_t* data = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(session, &data)) > 0;) {
    valid.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
  nghttp2_session_del(session);

  survive(valid);
}

}  // namespace
}  // namespace kube::testkit::detail
