// SPDX-License-Identifier: Apache-2.0
#include "raw_client.hpp"

#include <kube/testkit/api_server.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kube::testkit {
namespace {

constexpr std::string_view kWatch = "/api/v1/namespaces/default/configmaps?watch=true";
/// Key and response are the example of RFC 6455, section 1.3.
constexpr std::string_view kUpgrade =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

std::string config_map(std::string_view name, std::string_view value = "v") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
         std::string{name} + R"("},"data":{"k":")" + std::string{value} + "\"}}";
}

struct Frame {
  int opcode = 0;
  std::string payload;
};

Frame read_frame(RawClient& client) {
  const std::string head = client.read_exactly(2);
  if (head.size() < 2) return {};
  std::size_t size = static_cast<unsigned char>(head[1]);
  const std::size_t more = size < 126 ? 0 : size == 126 ? 2 : 8;
  if (more > 0) size = 0;
  for (const char c : client.read_exactly(more)) size = size << 8U | static_cast<unsigned char>(c);
  EXPECT_EQ(head[0] & 0x80, 0x80);
  return {head[0] & 0x0f, client.read_exactly(size)};
}

/// Returns a client frame, which is masked.
std::string client_frame(int opcode, std::string payload) {
  constexpr std::string_view kMask = "\x01\x02\x03\x04";
  std::string frame;
  frame.push_back(static_cast<char>(0x80 | opcode));
  frame.push_back(static_cast<char>(0x80U | payload.size()));
  frame += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(payload[i] ^ kMask[i % 4]);
  }
  return frame + payload;
}

// WT-27: upgrades once got a 200 with chunks, which no WebSocket client can read.
TEST(WebSocketWatch, SendsEachEventAsOneTextMessage) {
  ApiServer server;
  server.create_json(config_map("a"));
  RawClient client{server.port()};

  client.get(kWatch, kUpgrade);
  const RawResponse head = client.read_head();
  server.create_json(config_map("b", std::string(70000, 'x')));
  server.create_json(config_map("c", std::string(200, 'x')));

  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.headers.at("upgrade"), "websocket");
  EXPECT_EQ(head.headers.at("sec-websocket-accept"), kAccept);
  EXPECT_FALSE(head.headers.contains("sec-websocket-protocol"));
  EXPECT_FALSE(head.headers.contains("transfer-encoding"));
  for (const char* name : {"a", "b", "c"}) {
    const Frame frame = read_frame(client);
    EXPECT_EQ(frame.opcode, 1);
    EXPECT_TRUE(frame.payload.starts_with(R"({"type":"ADDED","object":{)")) << frame.payload;
    EXPECT_TRUE(frame.payload.ends_with("}\n"));
    EXPECT_NE(frame.payload.find(std::string{R"("name":")"} + name + '"'), std::string::npos);
  }
}

// WT-27
TEST(WebSocketWatch, RepeatsTheOneSubprotocol) {
  ApiServer server;
  const auto answer = [&](const std::string& protocols) {
    RawClient client{server.port()};
    client.get(kWatch, std::string{kUpgrade} + "Sec-WebSocket-Protocol: " + protocols + "\r\n");
    return client.read_head();
  };

  EXPECT_EQ(answer("base64.binary.k8s.io").headers.at("sec-websocket-protocol"),
            "base64.binary.k8s.io");
  EXPECT_EQ(answer("binary.k8s.io").headers.at("sec-websocket-protocol"), "binary.k8s.io");
  EXPECT_EQ(answer("binary.k8s.io, base64.binary.k8s.io").status, 400);
}

// WT-27
TEST(WebSocketWatch, AcceptsATokenInTheSubprotocols) {
  ApiServer server{{.token = "secret", .allow_anonymous = false}};
  const auto answer = [&](const std::string& token) {
    RawClient client{server.port()};
    client.get(kWatch, std::string{kUpgrade} +
                           "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io." +
                           token + ", binary.k8s.io\r\n");
    return client.read_head();
  };

  EXPECT_EQ(answer("d3Jvbmc").status, 401);  // "wrong"
  const RawResponse head = answer("c2VjcmV0");
  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.headers.at("sec-websocket-protocol"), "binary.k8s.io");
}

// WT-27
TEST(WebSocketWatch, AnswersPingsAndSkipsMessages) {
  ApiServer server;
  RawClient client{server.port()};
  client.get(kWatch, kUpgrade);
  ASSERT_EQ(client.read_head().status, 101);

  client.send(client_frame(1, "a message for nobody") + client_frame(9, "are you there?"));
  const Frame pong = read_frame(client);
  server.create_json(config_map("a"));

  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.payload, "are you there?");
  EXPECT_EQ(read_frame(client).opcode, 1);
}

// WT-27
TEST(WebSocketWatch, ClosesWithTheClient) {
  ApiServer server;
  RawClient client{server.port()};
  client.get(kWatch, kUpgrade);
  ASSERT_EQ(client.read_head().status, 101);

  client.send(client_frame(8, "\x03\xe9 going away"));
  const Frame close = read_frame(client);

  EXPECT_EQ(close.opcode, 8);
  EXPECT_EQ(close.payload, "\x03\xe9");
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_TRUE(server.wait_for([&] { return server.watch_count() == 0; }));
}

// WT-27
TEST(WebSocketWatch, EndsWithACloseFrame) {
  ApiServer server;
  RawClient client{server.port()};
  client.get(kWatch, kUpgrade);
  ASSERT_EQ(client.read_head().status, 101);

  server.end_watches();
  const Frame close = read_frame(client);

  EXPECT_EQ(close.opcode, 8);
  EXPECT_EQ(close.payload, "\x03\xe8");
  EXPECT_EQ(client.read_to_end(), "");
}

// WT-27
TEST(WebSocketWatch, EndsOnUnmaskedFrames) {
  ApiServer server;
  RawClient client{server.port()};
  client.get(kWatch, kUpgrade);
  ASSERT_EQ(client.read_head().status, 101);

  client.send(std::string_view{"\x89\x00", 2});
  const Frame close = read_frame(client);

  EXPECT_EQ(close.opcode, 8);
  EXPECT_EQ(close.payload, "\x03\xea");
}

// WT-27
TEST(WebSocketWatch, FailuresAreHttpResponses) {
  ApiServer server;
  RawClient client{server.port()};

  client.get("/api/v1/unicorns?watch=true", kUpgrade);
  EXPECT_EQ(client.read_response().status, 404);
  client.get("/api/v1/namespaces/default", kUpgrade);
  EXPECT_EQ(client.read_response().status, 200);
  client.get(kWatch, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n");
  EXPECT_EQ(client.read_response().status, 400);
}

// WT-27, AU-8: browsers let any page open a WebSocket and leave the refusal to the server.
TEST(WebSocketWatch, IsRefusedToForeignOrigins) {
  ApiServer server;
  RawClient client{server.port()};
  client.get(kWatch, std::string{kUpgrade} + "Origin: https://evil.example\r\n");
  const auto response = client.read_response();
  EXPECT_EQ(response.status, 403);
}

}  // namespace
}  // namespace kube::testkit
