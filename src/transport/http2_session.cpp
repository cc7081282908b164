// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>
#include <unordered_map>
#include <vector>

#include "peer_text.hpp"
#include "session.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

// The connection's window is never the limit: each stream has a window, which bounds its buffer.
constexpr std::int32_t kConnectionWindow = 1 << 30;
// The minimum that RFC 9113 recommends servers to allow.
constexpr std::size_t kUsualStreams = 100;

class Http2Session final : public Session {
 public:
  Http2Session(const SessionSettings& settings, ExchangeQueue& returned)
      : Session(settings, returned) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* option = nullptr;
    check(nghttp2_session_callbacks_new(&callbacks));
    const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)>
        callbacks_owner{callbacks, nghttp2_session_callbacks_del};
    check(nghttp2_option_new(&option));
    const std::unique_ptr<nghttp2_option, decltype(&nghttp2_option_del)> option_owner{
        option, nghttp2_option_del};
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_not_sent);
    nghttp2_session_callbacks_set_error_callback2(callbacks, on_complaint);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_send_header_block_length(option, settings.max_header_bytes);
    nghttp2_session* session = nullptr;
    check(nghttp2_session_client_new2(&session, callbacks, this, option));
    session_.reset(session);
    const std::array<nghttp2_settings_entry, 3> entries = {{
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
         static_cast<std::uint32_t>(
             std::clamp<std::size_t>(settings.stream_buffer_bytes, 1, kConnectionWindow))},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
         static_cast<std::uint32_t>(std::min<std::size_t>(settings.max_header_bytes, UINT32_MAX))},
    }};
    check(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, entries.data(), entries.size()));
    check(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow));
  }

  [[nodiscard]] const char* protocol() const noexcept override { return "HTTP/2"; }

  [[nodiscard]] std::size_t room() const override {
    if (!reusable()) return 0;
    // The server's stream limit is known with its first frame. One stream may start before.
    const std::size_t limit = settled_ ? remote_limit() : 1;
    return limit > streams_.size() ? limit - streams_.size() : 0;
  }
  [[nodiscard]] bool settled() const override { return settled_; }
  [[nodiscard]] std::size_t width() const override {
    return std::max<std::size_t>(1, settled_ ? remote_limit() : kUsualStreams);
  }
  [[nodiscard]] std::size_t active() const override { return streams_.size(); }
  [[nodiscard]] bool reusable() const override {
    return !going_away_ && nghttp2_session_check_request_allowed(session_.get()) != 0;
  }
  [[nodiscard]] bool wants_input() const override { return true; }
  [[nodiscard]] bool only_answers() const noexcept override { return false; }

  void begin(const std::shared_ptr<Exchange>& exchange) override {
    const HttpRequest& request = exchange->request;
    Headers headers = headers_to_send(request, settings_);
    const std::string path = settings_.path_prefix + request.target;
    std::vector<nghttp2_nv> fields;
    fields.reserve(headers.size() + 4);
    const auto add = [&fields](std::string_view name, std::string_view value) {
      fields.push_back(
          {const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(name.data())),
           const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data())),
           name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    };
    add(":method", request.method);
    add(":scheme", settings_.scheme);
    add(":authority", settings_.authority);
    add(":path", path);
    for (Header& header : headers) {
      header.name = lower_case(header.name);
      add(header.name, header.value);
      // Tokens must not enter the compression table, where their length could be guessed.
      if (header.name == "authorization") fields.back().flags = NGHTTP2_NV_FLAG_NO_INDEX;
    }
    nghttp2_data_provider body{};
    body.read_callback = read_body;
    exchange->offset = 0;
    const std::int32_t id =
        nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(),
                               request.body.empty() ? nullptr : &body, nullptr);
    if (id == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (id < 0) {
      exchange->fail({Kind::kProtocol, fmt::format("{}: the request cannot be sent: {}",
                                                   settings_.authority, nghttp2_strerror(id))});
      return;
    }
    exchange->stream_id = id;
    streams_.emplace(id, Stream{.exchange = exchange});
  }

  void attend(const std::shared_ptr<Exchange>& exchange) override {
    const auto found = streams_.find(exchange->stream_id);
    if (found == streams_.end() || found->second.exchange != exchange || found->second.dropped) {
      return;
    }
    if (exchange->done()) {
      found->second.dropped = true;  // data is discarded until the stream is closed
      reset(found->first);
      return;
    }
    const std::size_t credit = exchange->take_credit();
    if (credit > 0) check(nghttp2_session_consume_stream(session_.get(), found->first, credit));
  }

  void receive(std::string_view bytes) override {
    const auto taken = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    // Successive frames mostly belong to one stream; its reader is then woken only once.
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const auto& exchange : touched_) exchange->flush();
    touched_.clear();
    if (taken < 0) refuse("the server does not speak HTTP/2", static_cast<int>(taken));
  }

  void end_of_input() override {
    fail_all({Kind::kConnectionLost, fmt::format("{}: the server closed the connection{}",
                                                 settings_.authority, goaway_text_)});
  }

  [[nodiscard]] std::string_view output() override {
    while (pending_.empty()) {
      const std::uint8_t* data = nullptr;
      const auto size = nghttp2_session_mem_send(session_.get(), &data);
      if (size < 0) refuse("the HTTP/2 session failed", static_cast<int>(size));
      if (size == 0) break;
      // Coalesce small frames.
      gathered_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
      if (gathered_.size() < kGather) continue;
      break;
    }
    if (pending_.empty()) pending_ = gathered_;
    if (pending_.empty() && !streams_.empty() && nghttp2_session_want_read(session_.get()) == 0 &&
        nghttp2_session_want_write(session_.get()) == 0) {
      // nghttp2 has detected a connection error, has sent GOAWAY, and has nothing more to send.
      throw TransportError(Kind::kProtocol, fmt::format("{}: the server violates HTTP/2: {}",
                                                        settings_.authority, protocol_error_));
    }
    return pending_;
  }

  void sent(std::size_t bytes) override {
    pending_.remove_prefix(bytes);
    if (pending_.empty()) gathered_.clear();
  }

  bool ping() override {
    check(nghttp2_submit_ping(session_.get(), NGHTTP2_FLAG_NONE, nullptr));
    return true;
  }

  void fail_all(const TransportError& error) noexcept override {
    for (auto& [id, stream] : streams_) stream.exchange->fail(error);
    streams_.clear();
    going_away_ = true;
  }

 private:
  static constexpr std::size_t kGather = std::size_t{16} << 10;

  struct Stream {
    std::shared_ptr<Exchange> exchange;
    HttpResponseHead head = {};
    std::size_t header_bytes = 0;
    int informational = 0;  // 1xx responses so far
    bool dropped = false;   // its exchange is done
  };

  struct Delete {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  static void check(int result) {
    if (result == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (result != 0) throw TransportError(Kind::kProtocol, nghttp2_strerror(result));
  }

  /// A failed callback means out of memory: callbacks have no other reason to fail.
  [[noreturn]] void refuse(std::string_view what, int error) const {
    if (error == NGHTTP2_ERR_NOMEM || error == NGHTTP2_ERR_CALLBACK_FAILURE) throw std::bad_alloc();
    throw TransportError(Kind::kProtocol, fmt::format("{}: {}: {}", settings_.authority, what,
                                                      nghttp2_strerror(error)));
  }

  void reset(std::int32_t id) {
    check(nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL));
  }

  /// Ends the exchange of a stream whose response is refused.
  void drop(std::int32_t id, Stream& stream, const TransportError& error) {
    stream.exchange->fail(error);
    stream.dropped = true;
    reset(id);
  }

  [[nodiscard]] std::size_t remote_limit() const {
    return nghttp2_session_get_remote_settings(session_.get(),
                                               NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  }

  [[nodiscard]] Stream* find(std::int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() || found->second.dropped ? nullptr : &found->second;
  }

  /// Calls `function`: no exception may propagate through nghttp2.
  template <typename Function>
  static int guarded(Function function) noexcept {
    try {
      return function();
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (Stream* stream = static_cast<Http2Session*>(user)->find(frame->hd.stream_id)) {
      stream->head.headers.clear();
      if (stream->exchange->has_head()) return 0;  // trailers
      stream->head.status = 0;
      stream->header_bytes = 0;
    }
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    return guarded([&] {
      Stream* stream = self->find(frame->hd.stream_id);
      if (stream == nullptr) return 0;
      stream->header_bytes += name_size + value_size + kHeaderOverhead;
      const bool trailer = stream->exchange->has_head();
      if (stream->header_bytes > self->settings_.max_header_bytes) {
        self->drop(
            frame->hd.stream_id, *stream,
            trailer ? trailers_too_large(self->settings_) : headers_too_large(self->settings_));
        return 0;
      }
      if (trailer) return 0;
      const std::string_view key{reinterpret_cast<const char*>(name), name_size};
      const std::string_view text{reinterpret_cast<const char*>(value), value_size};
      if (key == ":status") {
        std::from_chars(text.data(), text.data() + text.size(), stream->head.status);
      } else {
        stream->head.headers.push_back({.name = std::string{key}, .value = std::string{text}});
      }
      return 0;
    });
  }

  /// nghttp2 drops such fields. It may object only to a trailing blank, but control characters are
  /// an attack.
  static int on_invalid_header(nghttp2_session*, const nghttp2_frame* frame,
                               const std::uint8_t* name, std::size_t name_size,
                               const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                               void* user) {
    auto* self = static_cast<Http2Session*>(user);
    return guarded([&] {
      Stream* stream = self->find(frame->hd.stream_id);
      if (stream == nullptr ||
          (is_field_text({reinterpret_cast<const char*>(name), name_size}) &&
           is_field_text({reinterpret_cast<const char*>(value), value_size}))) {
        return 0;
      }
      self->drop(frame->hd.stream_id, *stream,
                 {Kind::kProtocol,
                  fmt::format("{}: the answer violates HTTP/2: a header has control characters in "
                              "it",
                              self->settings_.authority)});
      return 0;
    });
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    return guarded([&] {
      const nghttp2_frame_hd& header = frame->hd;
      if (header.type == NGHTTP2_SETTINGS && (header.flags & NGHTTP2_FLAG_ACK) == 0) {
        self->settled_ = true;
      } else if (header.type == NGHTTP2_GOAWAY) {
        self->going_away_ = true;
        self->goaway_text_ =
            fmt::format(" (GOAWAY, {}{}{})", nghttp2_http2_strerror(frame->goaway.error_code),
                        frame->goaway.opaque_data_len > 0 ? ": " : "",
                        printable({reinterpret_cast<const char*>(frame->goaway.opaque_data),
                                   frame->goaway.opaque_data_len}));
      }
      Stream* stream = header.stream_id == 0 ? nullptr : self->find(header.stream_id);
      if (stream == nullptr) return 0;
      Exchange& exchange = *stream->exchange;
      if (header.type == NGHTTP2_HEADERS && !exchange.has_head()) {
        if (stream->head.status >= 200) {
          self->touched_.push_back(stream->exchange);
          exchange.on_head(std::move(stream->head));
        } else if (++stream->informational > kMaxInformational) {
          self->drop(header.stream_id, *stream, too_many_informational(self->settings_));
          return 0;
        }
      }
      if ((header.type == NGHTTP2_HEADERS || header.type == NGHTTP2_DATA) &&
          (header.flags & NGHTTP2_FLAG_END_STREAM) != 0 && exchange.has_head()) {
        self->touched_.push_back(stream->exchange);
        exchange.on_end();
        // A server that has responded does not want the rest of the request.
        if (exchange.offset < exchange.request.body.size()) self->reset(header.stream_id);
      }
      return 0;
    });
  }

  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                     const std::uint8_t* data, std::size_t size, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    return guarded([&] {
      check(nghttp2_session_consume_connection(session, size));
      if (Stream* stream = self->find(id)) {
        self->touched_.push_back(stream->exchange);
        stream->exchange->on_bytes({reinterpret_cast<const char*>(data), size});
      }
      return 0;
    });
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    return guarded([&] {
      const auto found = self->streams_.find(id);
      if (found == self->streams_.end()) return 0;
      const std::shared_ptr<Exchange> exchange = found->second.exchange;
      if (!exchange->done()) self->fail(exchange, code);
      self->streams_.erase(
          found);  // last: if reporting the failure throws, fail_all() still finds it
      return 0;
    });
  }

  /// Called for a request that was still queued when GOAWAY was received.
  static int on_not_sent(nghttp2_session*, const nghttp2_frame* frame, int error, void* user) {
    const bool refused = error == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED;
    if (frame->hd.type != NGHTTP2_HEADERS || !refused) return 0;
    return on_close(nullptr, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM, user);
  }

  static int on_complaint(nghttp2_session*, int, const char* text, std::size_t size, void* user) {
    return guarded([&] {
      static_cast<Http2Session*>(user)->protocol_error_ = printable({text, size});
      return 0;
    });
  }

  /// Fails an exchange whose stream was closed before the end of the response.
  void fail(const std::shared_ptr<Exchange>& exchange, std::uint32_t code) {
    if (code == NGHTTP2_REFUSED_STREAM && !exchange->has_head()) {
      give_back(exchange);
    } else if (code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_NO_ERROR) {
      exchange->fail({Kind::kProtocol, fmt::format("{}: the answer violates HTTP/2: {}",
                                                   settings_.authority, protocol_error_)});
    } else {
      exchange->fail({Kind::kConnectionLost,
                      fmt::format("{}: the server reset the stream ({}){}", settings_.authority,
                                  nghttp2_http2_strerror(code), goaway_text_)});
    }
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    const Stream* stream = static_cast<Http2Session*>(user)->find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
    Exchange& exchange = *stream->exchange;
    const std::string& body = exchange.request.body;
    const std::size_t size = std::min(length, body.size() - exchange.offset);
    std::memcpy(buffer, body.data() + exchange.offset, size);
    exchange.offset += size;
    if (exchange.offset == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  std::unique_ptr<nghttp2_session, Delete> session_;
  std::unordered_map<std::int32_t, Stream> streams_;
  std::vector<std::shared_ptr<Exchange>> touched_;  // have bytes not reported to readers
  bool settled_ = false;
  bool going_away_ = false;
  std::string goaway_text_;     // the debug data of a GOAWAY
  std::string protocol_error_;  // nghttp2's error message about the peer
  std::string gathered_;
  std::string_view pending_;
};

}  // namespace

std::unique_ptr<Session> make_http2_session(const SessionSettings& settings,
                                            ExchangeQueue& returned) {
  return std::make_unique<Http2Session>(settings, returned);
}

}  // namespace kube::detail
