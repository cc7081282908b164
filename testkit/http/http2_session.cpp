// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/http2_session.hpp"

#include "base/text.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kube::testkit::detail {
namespace {

constexpr std::uint32_t kStreams = 100;
constexpr std::uint32_t kWindow = 262144;
constexpr std::uint32_t kHeaderList = 1048896;
constexpr std::int32_t kConnectionWindow = 1 << 20;
/// How many streams a client may reset at once and then per second (RQ-13): enough to end all its
/// watches several times, and below nghttp2's own limit.
constexpr double kResetBurst = 500;
constexpr double kResetsPerSecond = 30;

struct Stream {
  ServerRequest request;
  std::size_t header_bytes = 0;
  /// The start of the head or body that is being received.
  Session::Time since = std::chrono::steady_clock::now();
  bool has_head = false;
  bool large_head = false;
  bool refused = false;
  bool dispatched = false;
  bool head_only = false;
  /// Valid while the response is being sent.
  Reply reply;
  std::string pending;
  std::size_t sent = 0;
  bool ended = false;
  bool deferred = false;
};

class Http2Session final : public Session {
 public:
  Http2Session(SessionHost& host, std::optional<PeerCertificate> certificate)
      : host_(host), certificate_(std::move(certificate)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc{};
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
    const int made = nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    if (made != 0) throw std::bad_alloc{};
    const std::array<nghttp2_settings_entry, 4> settings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kHeaderList},
    }};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
    host_.wake();
  }
  ~Http2Session() override { nghttp2_session_del(session_); }
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  void receive(std::string_view bytes) override {
    if (ending_ != Ending::kNone) return;
    const auto used = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    // Error frames for the peer are already queued; for a bad preface there are none.
    if (used < 0) fatal_ = true;
    dispatch_ready();
    host_.wake();
  }

  void produce(std::string& out, std::size_t limit) override {
    while (out.size() < limit && ending_ == Ending::kNone) {
      const std::uint8_t* data = nullptr;
      const auto size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) ending_ = Ending::kBreak;
      if (size <= 0) break;
      out.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
    closed_.clear();
    if (ending_ != Ending::kNone || out.size() >= limit) return;
    if (broken_) {
      ending_ = Ending::kBreak;
    } else if (fatal_ || (leaving_ && streams_.empty()) ||
               (nghttp2_session_want_read(session_) == 0 &&
                nghttp2_session_want_write(session_) == 0)) {
      ending_ = Ending::kClose;
    }
  }

  void woken(std::int32_t id) override {
    const auto found = streams_.find(id);
    if (found != streams_.end()) resume(id, found->second);
  }

  [[nodiscard]] bool wants_input() const override { return true; }
  [[nodiscard]] bool idle() const override { return streams_.empty(); }
  [[nodiscard]] std::uint64_t requests() const override { return requests_; }
  [[nodiscard]] Ending ending() const override { return ending_; }

  void drain() override {
    draining_ = true;
    leave();
    for (auto& [id, stream] : streams_) resume(id, stream);
    host_.wake();
  }
  void refuse_slow(Time now) override {
    std::vector<std::int32_t> slow;
    for (const auto& [id, stream] : streams_) {
      if (stream.dispatched) continue;
      const auto limit =
          stream.has_head ? host_.limits().body_timeout : host_.limits().head_timeout;
      if (now - stream.since < limit) continue;
      // No other frame may be sent between the frames of a header block.
      if (!stream.has_head) {
        ++host_.counters().slow_heads;
        ending_ = Ending::kBreak;
        return host_.wake();
      }
      slow.push_back(id);
    }
    for (const std::int32_t id : slow) {
      ++host_.counters().slow_bodies;
      refuse(id, too_slow("body", host_.limits().body_timeout));
    }
  }
  void expire() override {
    leave();
    host_.wake();
  }

 private:
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

  /// Runs an nghttp2 callback, which must not throw.
  template <typename Call>
  static int shielded(Call call) noexcept {
    try {
      return call();
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return shielded([&] {
      self(user).streams_[frame->hd.stream_id].request.certificate = self(user).certificate_;
      return 0;
    });
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    const auto found = self(user).streams_.find(frame->hd.stream_id);
    if (found == self(user).streams_.end() || found->second.has_head) return 0;  // trailers
    return shielded([&] {
      add_header(found->second, {reinterpret_cast<const char*>(name), name_size},
                 {reinterpret_cast<const char*>(value), value_size});
      return 0;
    });
  }

  static void add_header(Stream& stream, std::string_view key, std::string_view text) {
    stream.header_bytes += key.size() + text.size() + 32;
    if (stream.large_head || stream.header_bytes > kHeaderList ||
        stream.request.headers.size() >= kHeaderCount) {
      stream.large_head = true;
      stream.request = {};
    } else if (key == ":method") {
      stream.request.method = text;
    } else if (key == ":path") {
      stream.request.target = text;
    } else if (key == ":authority") {
      stream.request.headers.push_back({"host", std::string{text}});
    } else if (!key.starts_with(':')) {
      stream.request.headers.push_back({std::string{key}, std::string{text}});
    }
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* user) {
    const auto found = self(user).streams_.find(id);
    if (found == self(user).streams_.end() || found->second.dispatched) return 0;
    return shielded([&] {
      std::string& body = found->second.request.body;
      body.append(reinterpret_cast<const char*>(data), size);
      if (body.size() > kBodyLimit) {
        found->second.dispatched = true;
        body = {};
        self(user).refused_.push_back(id);
      }
      return 0;
    });
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_RST_STREAM) self(user).count_reset();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    return shielded([&] {
      Http2Session& session = self(user);
      const auto found = session.streams_.find(frame->hd.stream_id);
      if (found == session.streams_.end()) return 0;
      if (!std::exchange(found->second.has_head, true)) {
        found->second.since = std::chrono::steady_clock::now();
        if (found->second.large_head) {
          found->second.dispatched = true;
          session.refused_.push_back(found->first);
        }
      }
      if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        session.ready_.push_back(frame->hd.stream_id);
      }
      return 0;
    });
  }

  /// After the response to a refused request, resets the stream instead of waiting for the rest.
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const auto found = self(user).streams_.find(frame->hd.stream_id);
    if (found == self(user).streams_.end() || !found->second.refused) return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     NGHTTP2_NO_ERROR);
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    // The body source may be inside poll(): it is destroyed after nghttp2 has returned.
    const auto found = self(user).streams_.find(id);
    if (found == self(user).streams_.end()) return 0;
    return shielded([&] {
      self(user).closed_.emplace_back();
      self(user).closed_.back() = self(user).streams_.extract(found);
      return 0;
    });
  }

  /// Limits the rate of resets: opening and resetting a stream costs the server more than the
  /// client.
  void count_reset() {
    const Time now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - std::exchange(last_reset_, now);
    resets_left_ = std::min(kResetBurst, resets_left_ + passed.count() * kResetsPerSecond) - 1;
    if (resets_left_ >= 0 || std::exchange(terminated_, true)) return;
    ++host_.counters().stream_resets;
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /// Requests are served outside of nghttp2's callbacks.
  void dispatch_ready() {
    for (const std::int32_t id : std::exchange(refused_, {})) {
      const auto found = streams_.find(id);
      if (found == streams_.end()) continue;
      const bool head = found->second.large_head;
      ++(head ? host_.counters().large_heads : host_.counters().large_bodies);
      refuse(id, head ? text_reply(431, "431 Request Header Fields Too Large") : body_too_large());
    }
    for (const std::int32_t id : std::exchange(ready_, {})) {
      const auto found = streams_.find(id);
      if (found == streams_.end() || found->second.dispatched) continue;
      found->second.dispatched = true;
      ++requests_;
      found->second.head_only = found->second.request.method == "HEAD";
      if (!found->second.request.target.starts_with('/')) {
        answer(id, text_reply(400, "400 Bad Request"));
        continue;
      }
      host_.serve(std::move(found->second.request),
                  [this, id](Reply reply) { answer(id, std::move(reply)); });
    }
    closed_.clear();
  }

  void refuse(std::int32_t id, Reply reply) {
    Stream& stream = streams_.find(id)->second;
    stream.dispatched = stream.refused = true;
    ++requests_;
    answer(id, std::move(reply));
  }

  void answer(std::int32_t id, Reply reply) {
    const auto found = streams_.find(id);
    if (found == streams_.end() || ending_ != Ending::kNone) return;
    if (reply.fate == Reply::Fate::kSilent) return host_.silence();
    if (reply.fate == Reply::Fate::kReset) {
      ending_ = Ending::kReset;
      return host_.wake();
    }
    Stream& stream = found->second;
    stream.reply = std::move(reply);
    std::vector<Header> head{{":status", std::to_string(stream.reply.status)}};
    for (Header& header : stream.reply.headers) {
      header.name = kube::detail::lower_case(header.name);
      head.push_back(std::move(header));
    }
    const bool sized = stream.reply.length >= 0 || (!stream.reply.source && !stream.reply.chunked);
    if (sized && stream.reply.status != 304) {
      const auto size = stream.reply.length >= 0 ? static_cast<std::size_t>(stream.reply.length)
                                                 : stream.reply.body.size();
      head.push_back({"content-length", std::to_string(size)});
    }
    std::vector<nghttp2_nv> fields;
    fields.reserve(head.size());
    for (Header& header : head) {
      fields.push_back({reinterpret_cast<std::uint8_t*>(header.name.data()),
                        reinterpret_cast<std::uint8_t*>(header.value.data()), header.name.size(),
                        header.value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    stream.pending = std::move(stream.reply.body);
    if (stream.reply.gzip_flushes && !stream.pending.empty()) stream.pending = gzip(stream.pending);
    stream.ended = !stream.reply.source;
    const nghttp2_data_provider provider{{.ptr = nullptr}, &read_body};
    const bool bodiless =
        stream.head_only || stream.reply.status == 304 || (stream.ended && stream.pending.empty());
    if (nghttp2_submit_response(session_, id, fields.data(), fields.size(),
                                bodiless ? nullptr : &provider) != 0) {
      broken_ = true;
    }
    // AU-1: an unauthenticated request ends the connection.
    if (stream.reply.status == 401 || stream.reply.close) leave();
    host_.wake();
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    const auto found = self(user).streams_.find(id);
    if (found == self(user).streams_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    try {
      return self(user).read_stream(id, found->second, {reinterpret_cast<char*>(buffer), length},
                                    *flags);
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;  // ends the connection, like any fatal error
    }
  }

  ssize_t read_stream(std::int32_t id, Stream& stream, std::span<char> into, std::uint32_t& flags) {
    if (stream.sent == stream.pending.size()) {
      stream.pending.clear();
      stream.sent = 0;
      if (!stream.ended) fill(id, stream, into.size());
    }
    const std::size_t size = std::min(into.size(), stream.pending.size() - stream.sent);
    std::memcpy(into.data(), stream.pending.data() + stream.sent, size);
    stream.sent += size;
    if (stream.ended && stream.sent == stream.pending.size()) {
      flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (size == 0) {
      stream.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(size);
  }

  void fill(std::int32_t id, Stream& stream, std::size_t about) {
    if (!stream.reply.source || broken_) return;
    const auto waker = host_.waker(id);
    while (stream.pending.size() < about) {
      auto [state, bytes] = draining_ ? BodySource::Poll{BodySource::State::kEnd, {}}
                                      : stream.reply.source->poll(waker);
      if (state == BodySource::State::kEnd) stream.ended = true;
      if (state == BodySource::State::kReset) broken_ = true;
      if (state == BodySource::State::kSilent) host_.silence();
      if (state != BodySource::State::kChunk) break;
      stream.pending += bytes;
    }
    if (stream.reply.gzip_flushes && !stream.pending.empty()) stream.pending = gzip(stream.pending);
  }

  void resume(std::int32_t id, Stream& stream) {
    if (!std::exchange(stream.deferred, false)) return;
    // A stream that is not resumed would wait forever.
    if (nghttp2_is_fatal(nghttp2_session_resume_data(session_, id)) != 0) broken_ = true;
    host_.wake();
  }

  /// Sends GOAWAY; streams in progress are finished.
  void leave() {
    if (std::exchange(leaving_, true)) return;
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }

  SessionHost& host_;
  const std::optional<PeerCertificate> certificate_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  std::vector<std::map<std::int32_t, Stream>::node_type> closed_;
  std::vector<std::int32_t> ready_;
  std::vector<std::int32_t> refused_;
  std::uint64_t requests_ = 0;
  double resets_left_ = kResetBurst;
  Time last_reset_ = std::chrono::steady_clock::now();
  bool fatal_ = false;
  bool broken_ = false;
  bool draining_ = false;
  bool leaving_ = false;
  bool terminated_ = false;
  Ending ending_ = Ending::kNone;
};

}  // namespace

std::unique_ptr<Session> make_http2_session(SessionHost& host,
                                            std::optional<PeerCertificate> certificate) {
  return std::make_unique<Http2Session>(host, std::move(certificate));
}

}  // namespace kube::testkit::detail
