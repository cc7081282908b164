// SPDX-License-Identifier: Apache-2.0
#include "http2_client.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace kube::testkit {

Http2Client::Http2Client(std::uint16_t port, const std::string& ca, bool automatic_window)
    : socket_(port, ca, {}, {}, ca.empty() ? std::string_view{} : std::string_view{"\x02h2"}) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
        self(user)
            .streams_[frame->hd.stream_id]
            .headers[{reinterpret_cast<const char*>(name), name_size}] = {
            reinterpret_cast<const char*>(value), value_size};
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user) {
        self(user).streams_[id].body.append(reinterpret_cast<const char*>(data), size);
        self(user).unacknowledged_ += size;
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Http2Client& client = self(user);
        if (frame->hd.type == NGHTTP2_GOAWAY) client.went_away_ = true;
        if (frame->hd.type == NGHTTP2_SETTINGS) {
          for (std::size_t i = 0; i < frame->settings.niv; ++i) {
            client.settings_[frame->settings.iv[i].settings_id] = frame->settings.iv[i].value;
          }
        }
        const bool content = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        if (content && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          client.streams_[frame->hd.stream_id].ended = true;
        }
        return 0;
      });
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, automatic_window ? 0 : 1);
  nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
}

Http2Client::~Http2Client() { nghttp2_session_del(session_); }

std::int32_t Http2Client::request(std::string_view method, std::string_view target,
                                  std::string body) {
  const auto field = [](std::string_view name, std::string_view value) {
    return nghttp2_nv{reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
                      value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  const std::array<nghttp2_nv, 4> fields{field(":method", method), field(":scheme", "http"),
                                         field(":authority", "localhost"), field(":path", target)};
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                              std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                              void* user) -> ssize_t {
    Stream& stream = self(user).streams_[id];
    const std::size_t size = std::min(length, stream.upload.size() - stream.uploaded);
    std::memcpy(buffer, stream.upload.data() + stream.uploaded, size);
    stream.uploaded += size;
    if (stream.uploaded == stream.upload.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  };
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                 body.empty() ? nullptr : &provider, nullptr);
  streams_[id].upload = std::move(body);
  return id;
}

void Http2Client::reset(std::int32_t id) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  flush();
}

void Http2Client::open_window(std::int32_t id) {
  const std::size_t size = std::exchange(unacknowledged_, 0);
  if (size > 0) nghttp2_session_consume(session_, id, size);
}

void Http2Client::flush() {
  for (;;) {
    const std::uint8_t* data = nullptr;
    const auto size = nghttp2_session_mem_send(session_, &data);
    if (size <= 0) return;
    socket_.send({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
}

bool Http2Client::run_for(std::chrono::milliseconds time) {
  flush();
  if (!socket_.readable(time)) return false;
  const std::string bytes = socket_.read_some();
  if (bytes.empty()) closed_ = true;
  nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                           bytes.size());
  flush();
  return true;
}

void Http2Client::run_until(const std::function<bool()>& done) {
  flush();
  while (!done()) {
    if (closed_) throw std::runtime_error("the connection has ended");
    if (!run_for(std::chrono::seconds{10})) {
      throw std::runtime_error("nothing came within ten seconds");
    }
  }
}

bool Http2Client::run_until_log(const RequestLog& log, std::size_t count) {
  flush();
  if (!log.wait_for({}, count)) return false;
  while (socket_.readable(std::chrono::milliseconds{0})) run_for(std::chrono::milliseconds{0});
  return true;
}

std::size_t Http2Client::ended() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(streams_, [](const auto& entry) { return entry.second.ended; }));
}

}  // namespace kube::testkit
