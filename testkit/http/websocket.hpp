// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/transport.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// The server's side of RFC 6455, as far as watches need it: nothing but control frames is read.
namespace kube::testkit::detail {

/// Whether a client asks to go on with WebSocket.
[[nodiscard]] bool asks_for_websocket(const Headers& headers);

/// The answer to a request that asks_for_websocket().
struct WebSocketHandshake {
  /// Why it is refused; empty if it is not.
  std::string problem;
  /// The whole head of the 101 answer.
  std::string head;

  explicit WebSocketHandshake(const Headers& headers);
};

/// Appends one unmasked frame that is a whole message.
enum class WebSocketOpcode : std::uint8_t {
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10
};
void append_websocket_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload);
/// The payload of a close frame that says `code`: 1000 is a normal end.
[[nodiscard]] std::string websocket_close_payload(std::uint16_t code);

/// Reads the frames of a client, answers pings and notices the end. Messages are skipped.
class WebSocketReader {
 public:
  /// Appends answers to `replies`.
  void feed(std::string_view bytes, std::string& replies);
  /// The client has closed, or broken the protocol, and was answered: nothing may follow.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

 private:
  void control(std::uint8_t opcode, std::string payload, std::string& replies);
  void fail(std::uint16_t code, std::string& replies);
  /// Takes one frame, or what there is of a long message, from the front of `input_`; false if more is needed.
  bool step(std::string& replies);

  std::string input_;
  std::uint64_t skip_ = 0;  ///< bytes of a message still to come
  bool closed_ = false;
};

}  // namespace kube::testkit::detail
