// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/message.hpp"
#include <kube/transport/transport.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// The server side of RFC 6455, as far as watches need it: of the client's frames, only control
/// frames are interpreted.
namespace kube::testkit::detail {

/// Returns whether a request asks for an upgrade to WebSocket.
[[nodiscard]] bool asks_for_websocket(const Headers& headers);

/// The response to a request for which asks_for_websocket() is true.
struct WebSocketHandshake {
  /// The reason for a refusal; empty if the upgrade is accepted.
  std::string problem;
  /// The headers of the 101 response.
  Headers headers;

  explicit WebSocketHandshake(const Headers& request);
};

/// The opcodes that the server sends or interprets.
enum class WebSocketOpcode : std::uint8_t {
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10
};
/// Appends one unmasked frame that is a complete message.
void append_websocket_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload);
/// Returns the payload of a close frame with `code`; 1000 is a normal closure.
[[nodiscard]] std::string websocket_close_payload(std::uint16_t code);

/// Reads the frames of a client, answers pings and detects the closing handshake. Skips messages.
class WebSocketReader {
 public:
  /// Appends replies to `replies`.
  void feed(std::string_view bytes, std::string& replies);
  /// Returns whether the client has closed, or violated the protocol and been answered. Nothing may
  /// be sent afterwards.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  void control(std::uint8_t opcode, std::string payload, std::string& replies);
  void fail(std::uint16_t code, std::string& replies);
  /// Consumes one frame, or a part of a long message, from the front of `input_`. Returns false if
  /// more input is needed.
  bool step(std::string& replies);

  std::string input_;
  std::uint64_t skip_ = 0;  ///< remaining bytes of a message to skip
  bool closed_ = false;
};

/// Makes a WebSocket of a watch: each chunk of its body becomes a message. If the handshake is
/// refused, `reply` becomes the refusal.
void upgrade(server::Reply& reply, const WebSocketHandshake& handshake);

}  // namespace kube::testkit::detail
