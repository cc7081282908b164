// SPDX-License-Identifier: Apache-2.0
#include "scripted_peers.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kube::test {

void Http1Peer::receive(std::string_view bytes) {
  if (ended) return on_late_input_();
  input_ += bytes;
  while (true) {
    const auto end = input_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const auto space = input_.find(' ');
    const std::string target = input_.substr(space + 1, input_.find(' ', space + 1) - space - 1);
    input_.erase(0, end + 4);
    ++handled_[target];
    output += answer_(target);
  }
}

void Http1Peer::end(std::string_view farewell) {
  output += farewell;
  ended = true;
}

struct Http2Peer::Callbacks {
  static Http2Peer& self(void* user) { return *static_cast<Http2Peer*>(user); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    const std::string_view key{reinterpret_cast<const char*>(name), name_size};
    if (key == ":path") {
      self(user).targets_[frame->hd.stream_id] = {reinterpret_cast<const char*>(value), value_size};
    }
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Peer& peer = self(user);
    const std::int32_t stream = frame->hd.stream_id;
    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 ||
        (peer.gone_ && stream > peer.last_handled_)) {
      return 0;
    }
    ++peer.handled_[peer.targets_[stream]];
    peer.last_handled_ = std::max(peer.last_handled_, stream);
    if (!peer.hold_) peer.answer(stream);
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
    self(user).targets_.erase(stream);
    return 0;
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t stream, std::uint8_t* buffer,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    Http2Peer& peer = self(user);
    const std::string& body = peer.targets_[stream];
    const std::size_t size = std::min(length, body.size());
    std::memcpy(buffer, body.data(), size);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
};

Http2Peer::Http2Peer(Handled& handled, bool hold) : handled_(handled), hold_(hold) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::on_close);
  nghttp2_session_server_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  flush();
}

Http2Peer::~Http2Peer() { nghttp2_session_del(session_); }

void Http2Peer::receive(std::string_view bytes) {
  nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                           bytes.size());
  flush();
}

void Http2Peer::answer(std::int32_t stream) {
  std::array<std::uint8_t, 7> name{':', 's', 't', 'a', 't', 'u', 's'};
  std::array<std::uint8_t, 3> value{'2', '0', '0'};
  const nghttp2_nv status{name.data(), value.data(), name.size(), value.size(),
                          NGHTTP2_NV_FLAG_NONE};
  nghttp2_data_provider body{};
  body.read_callback = Callbacks::read_body;
  nghttp2_submit_response(session_, stream, &status, 1, &body);
}

void Http2Peer::release() {
  hold_ = false;
  for (const auto& [stream, target] : targets_) {
    if (stream <= last_handled_) answer(stream);
  }
  flush();
}

void Http2Peer::go_away() {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_handled_, NGHTTP2_NO_ERROR, nullptr, 0);
  gone_ = true;
  flush();
}

void Http2Peer::reset(std::int32_t stream, std::uint32_t code) {
  if (targets_.erase(stream) == 0) return;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
  flush();
}

void Http2Peer::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  flush();
}

void Http2Peer::flush() {
  const std::uint8_t* data = nullptr;
  while (true) {
    const auto size = nghttp2_session_mem_send(session_, &data);
    if (size <= 0) return;
    output.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
}

}  // namespace kube::test
