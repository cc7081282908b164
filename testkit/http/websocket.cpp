// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/websocket.hpp"

#include "testkit/http/replies.hpp"
#include "testkit/requests/access.hpp"

#include "base/text.hpp"
#include <kube/codec/base64.hpp>

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace kube::testkit::detail {
namespace {

/// RFC 6455, 1.3.
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kLongestControl = 125;
constexpr std::uint16_t kProtocolError = 1002;

std::string accept_key(const std::string& key) {
  const std::string text = key + std::string{kGuid};
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

/// Returns the comma-separated members of all headers of that name.
std::vector<std::string> members_of(const Headers& headers, std::string_view name) {
  std::vector<std::string> members;
  for (const Header& header : headers) {
    if (!kube::detail::equals_ignoring_case(header.name, name)) continue;
    for (std::string_view rest = header.value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const auto member = kube::detail::trimmed(rest.substr(0, comma), kube::detail::kBlank);
      if (!member.empty()) members.emplace_back(member);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return members;
}

bool has_member(const Headers& headers, std::string_view name, std::string_view wanted) {
  return std::ranges::any_of(members_of(headers, name), [&](const std::string& member) {
    return kube::detail::lower_case(member) == wanted;
  });
}

/// The frames of a watch, and the answers to those of the client.
class WebSocketWatch final : public server::UpgradedStream {
 public:
  WebSocketWatch(std::unique_ptr<BodySource> source, WebSocketOpcode opcode)
      : source_(std::move(source)), opcode_(opcode) {}

  void receive(std::string_view bytes) override { reader_.feed(bytes, replies_); }
  Poll poll(const std::function<void()>& wake) override {
    if (!replies_.empty()) return {State::kChunk, std::exchange(replies_, {})};
    if (reader_.is_closed() || said_goodbye_) return {State::kEnd};
    Poll next = draining_ ? Poll{State::kEnd} : source_->poll(wake);
    std::string frame;
    if (next.state == State::kChunk) {
      append_websocket_frame(frame, opcode_, next.bytes);
    } else if (next.state == State::kEnd) {
      append_websocket_frame(frame, WebSocketOpcode::kClose, websocket_close_payload(1000));
      said_goodbye_ = true;
    } else {
      return next;
    }
    return {State::kChunk, std::move(frame)};
  }
  void drain() override { draining_ = true; }

 private:
  const std::unique_ptr<BodySource> source_;
  const WebSocketOpcode opcode_;
  WebSocketReader reader_;
  std::string replies_;
  bool draining_ = false;
  bool said_goodbye_ = false;
};

}  // namespace

void upgrade(Reply& reply, const WebSocketHandshake& handshake) {
  if (!handshake.problem.empty()) {
    reply = text_reply(400, handshake.problem);
    return;
  }
  const std::string* type = find_header(reply.headers, "Content-Type");
  const auto opcode = type != nullptr && type->find("protobuf") != std::string::npos
                          ? WebSocketOpcode::kBinary
                          : WebSocketOpcode::kText;
  Reply switched;
  switched.status = 101;
  switched.headers = handshake.headers;
  switched.upgrade = std::make_unique<WebSocketWatch>(std::move(reply.source), opcode);
  reply = std::move(switched);
}

bool asks_for_websocket(const Headers& headers) {
  return has_member(headers, "Connection", "upgrade") &&
         has_member(headers, "Upgrade", "websocket");
}

WebSocketHandshake::WebSocketHandshake(const Headers& request) {
  const std::string* key = find_header(request, "Sec-WebSocket-Key");
  const std::string* version = find_header(request, "Sec-WebSocket-Version");
  std::vector<std::string> protocols = members_of(request, "Sec-WebSocket-Protocol");
  std::erase_if(protocols, [](const std::string& one) { return one.starts_with(kBearerProtocol); });
  if (version == nullptr || *version != "13") {
    problem = "the WebSocket version must be 13";
  } else if (key == nullptr || key->empty()) {
    problem = "the header Sec-WebSocket-Key is missing";
  } else if (protocols.size() > 1) {
    problem = "a watch takes at most one WebSocket subprotocol";
  }
  if (!problem.empty()) return;
  headers = {{"Upgrade", "websocket"},
             {"Connection", "Upgrade"},
             {"Sec-WebSocket-Accept", accept_key(*key)}};
  if (!protocols.empty()) headers.push_back({"Sec-WebSocket-Protocol", protocols.front()});
}

void append_websocket_frame(std::string& out, WebSocketOpcode opcode, std::string_view payload) {
  out.push_back(static_cast<char>(0x80U | static_cast<unsigned>(opcode)));
  const std::uint64_t size = payload.size();
  const auto append_size = [&](int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      out.push_back(static_cast<char>((size >> static_cast<unsigned>(shift)) & 0xffU));
    }
  };
  if (size < 126) {
    out.push_back(static_cast<char>(size));
  } else if (size <= 0xffff) {
    out.push_back(126);
    append_size(2);
  } else {
    out.push_back(127);
    append_size(8);
  }
  out.append(payload);
}

std::string websocket_close_payload(std::uint16_t code) {
  return {static_cast<char>(code >> 8U), static_cast<char>(code & 0xffU)};
}

void WebSocketReader::feed(std::string_view bytes, std::string& replies) {
  if (closed_) return;
  input_.append(bytes);
  while (!closed_ && step(replies)) {
  }
}

void WebSocketReader::fail(std::uint16_t code, std::string& replies) {
  append_websocket_frame(replies, WebSocketOpcode::kClose, websocket_close_payload(code));
  closed_ = true;
  input_.clear();
}

void WebSocketReader::control(std::uint8_t opcode, std::string payload, std::string& replies) {
  if (opcode == static_cast<std::uint8_t>(WebSocketOpcode::kPing)) {
    append_websocket_frame(replies, WebSocketOpcode::kPong, payload);
  } else if (opcode == static_cast<std::uint8_t>(WebSocketOpcode::kClose)) {
    if (payload.size() > 2) payload.resize(2);  // the code is echoed, the reason is not
    append_websocket_frame(replies, WebSocketOpcode::kClose, payload);
    closed_ = true;
  }
}

bool WebSocketReader::step(std::string& replies) {
  if (skip_ > 0) {
    const std::uint64_t size = std::min<std::uint64_t>(skip_, input_.size());
    input_.erase(0, size);
    skip_ -= size;
    return skip_ == 0;
  }
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(input_[at]); };
  if (input_.size() < 2) return false;
  const auto opcode = static_cast<std::uint8_t>(byte(0) & 0x0fU);
  const bool is_control = (opcode & 0x08U) != 0;
  std::uint64_t size = byte(1) & 0x7fU;
  if ((byte(1) & 0x80U) == 0 || (is_control && size > kLongestControl)) {
    fail(kProtocolError, replies);  // clients must mask their frames
    return false;
  }
  const std::size_t size_bytes = size < 126 ? 0 : size == 126 ? 2 : 8;
  const std::size_t head = 2 + size_bytes + 4;
  if (input_.size() < head || (is_control && input_.size() < head + size)) return false;
  if (!is_control) {
    if (size_bytes > 0) size = 0;
    for (std::size_t i = 0; i < size_bytes; ++i) size = size << 8U | byte(2 + i);
    input_.erase(0, head);
    skip_ = size;
    return true;
  }
  std::string payload = input_.substr(head, size);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(static_cast<unsigned char>(payload[i]) ^ byte(head - 4 + i % 4));
  }
  input_.erase(0, head + size);
  control(opcode, std::move(payload), replies);
  return true;
}

}  // namespace kube::testkit::detail
