// SPDX-License-Identifier: Apache-2.0
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

#include "body_pipe.hpp"
#include "session.hpp"

namespace kube::server {
namespace {

constexpr std::uint32_t kWindow = 262144;
constexpr std::int32_t kConnectionWindow = 1 << 20;
/// Go adds this to the limit of its headers, and announces the sum.
constexpr std::size_t kHeaderListSlack = 320;
/// Counted for each header in addition to its text, as HTTP/2 prescribes.
constexpr std::size_t kHeaderOverhead = 32;
/// How many streams a client may reset at once and then per second: enough to end all its watches
/// several times, and below nghttp2's own limit.
constexpr double kResetBurst = 500;
constexpr double kResetsPerSecond = 30;

struct Stream {
  enum class Phase {
    kHead,       ///< the head of the request arrives
    kBody,       ///< its body arrives
    kAnswering,  ///< the handler has it
    kSending,    ///< the response is sent
  };

  Request request = {};
  std::size_t header_bytes = 0;
  Phase phase = Phase::kHead;
  /// The start of the phase.
  Session::TimePoint since{};
  bool large_head = false;
  bool large_body = false;
  bool refused = false;
  bool head_only = false;
  /// Set while the handler reads a body that is not complete.
  std::shared_ptr<BodyPipe> pipe = nullptr;
  // The response:
  Reply reply = {};
  std::string pending = {};
  std::size_t sent = 0;
  std::function<void()> waker = nullptr;
  bool ended = false;
  bool deferred = false;
};

class Http2Session final : public Session {
 public:
  explicit Http2Session(SessionHost& host)
      : host_(host), header_list_(host.limits().max_head + kHeaderListSlack) {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) throw std::bad_alloc{};
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
    nghttp2_option* options = nullptr;
    int made = nghttp2_option_new(&options);
    if (made == 0) {
      nghttp2_option_set_no_auto_window_update(options, 1);  // for back-pressure of streamed bodies
      made = nghttp2_session_server_new2(&session_, callbacks, this, options);
    }
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    if (made != 0) throw std::bad_alloc{};
    const std::array<nghttp2_settings_entry, 4> settings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, host.limits().max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindow},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(header_list_)},
    }};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }
  ~Http2Session() override {
    nghttp2_session_del(session_);
    for (auto& [id, stream] : streams_) break_pipe(stream);
  }

  void receive(std::string_view bytes) override {
    if (ending_ != Ending::kNone) return;
    const auto used = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    // Error frames for the peer are already queued; for a bad preface there are none.
    if (used < 0) fatal_ = true;
    dispatch_ready();
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

  void answer(std::int32_t id, Reply reply) override {
    const auto found = streams_.find(id);
    if (found == streams_.end() || found->second.phase != Stream::Phase::kAnswering) return;
    take(id, found->second, std::move(reply));
  }

  void woken(std::int32_t id) override {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    if (found->second.pipe) consume(id, found->second.pipe->take_read());
    resume(id, found->second);
  }

  [[nodiscard]] bool wants_input() const override { return true; }
  [[nodiscard]] bool idle() const override { return streams_.empty(); }
  [[nodiscard]] std::uint64_t requests() const override { return requests_; }
  [[nodiscard]] Ending ending() const override { return ending_; }

  void drain() override {
    draining_ = true;
    leave();
    for (auto& [id, stream] : streams_) resume(id, stream);
  }
  void expire() override { leave(); }
  void refuse(Refusal /*why*/) override { ending_ = Ending::kClose; }

  [[nodiscard]] TimePoint next_timeout() const override {
    TimePoint next = TimePoint::max();
    if (timed_ == 0) return next;
    for (const auto& [id, stream] : streams_) next = std::min(next, timeout_of(stream));
    return next;
  }
  void refuse_slow(TimePoint now) override {
    if (timed_ == 0) return;
    std::vector<std::int32_t> slow;
    for (const auto& [id, stream] : streams_) {
      if (now >= timeout_of(stream)) slow.push_back(id);
    }
    for (const std::int32_t id : slow) {
      const Stream& stream = streams_.find(id)->second;
      if (stream.phase == Stream::Phase::kHead) {
        // No other frame may be sent between the frames of a header block.
        host_.handler().on_incident(Incident::kSlowHead);
        ending_ = Ending::kBreak;
        return;
      }
      const bool body = stream.phase == Stream::Phase::kBody;
      host_.handler().on_incident(body ? Incident::kSlowBody : Incident::kSlowAnswer);
      refuse_stream(id, body ? Refusal::kSlowBody : Refusal::kSlowAnswer);
    }
  }

 private:
  using Phase = Stream::Phase;

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

  [[nodiscard]] TimePoint timeout_of(const Stream& stream) const {
    switch (stream.phase) {
      case Phase::kHead:
        return stream.since + host_.limits().head_timeout;
      case Phase::kBody:
        return stream.since + host_.limits().body_timeout;
      case Phase::kAnswering:
        return deadline_of(stream.since, host_.limits().answer_timeout);
      case Phase::kSending:
        break;
    }
    return TimePoint::max();
  }

  /// Whether streams in this phase have a time limit.
  [[nodiscard]] bool is_timed(Phase phase) const {
    if (phase == Phase::kAnswering) return host_.limits().answer_timeout.count() != 0;
    return phase != Phase::kSending;
  }

  void enter(Stream& stream, Phase phase) {
    if (is_timed(stream.phase)) --timed_;
    stream.phase = phase;
    if (is_timed(phase)) ++timed_;
    stream.since = host_.now();
  }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return shielded([&] {
      Http2Session& session = self(user);
      Stream& stream = session.streams_[frame->hd.stream_id];
      ++session.timed_;
      stream.since = session.host_.now();
      return 0;
    });
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    const auto found = self(user).streams_.find(frame->hd.stream_id);
    if (found == self(user).streams_.end() || found->second.phase != Phase::kHead) {
      return 0;  // trailers
    }
    return shielded([&] {
      self(user).add_header(found->second, {reinterpret_cast<const char*>(name), name_size},
                            {reinterpret_cast<const char*>(value), value_size});
      return 0;
    });
  }

  void add_header(Stream& stream, std::string_view key, std::string_view text) const {
    stream.header_bytes += key.size() + text.size() + kHeaderOverhead;
    if (stream.large_head || stream.header_bytes > header_list_ ||
        stream.request.headers.size() >= host_.limits().max_headers) {
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
    return shielded([&] {
      self(user).take_data(id, {reinterpret_cast<const char*>(data), size});
      return 0;
    });
  }

  void take_data(std::int32_t id, std::string_view bytes) {
    // The window of the connection is not for one stream to block.
    if (nghttp2_session_consume_connection(session_, bytes.size()) != 0) throw std::bad_alloc{};
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    Stream& stream = found->second;
    if (stream.pipe) {
      stream.pipe->write(bytes);
      return consume(id, stream.pipe->take_read());
    }
    consume(id, bytes.size());
    if (stream.phase != Phase::kBody || stream.large_body) return;
    stream.request.body.append(bytes);
    if (stream.request.body.size() <= host_.limits().max_body) return;
    stream.large_body = true;
    stream.request.body = {};
    ready_.push_back(id);
  }

  /// Opens the stream's window for what was read.
  void consume(std::int32_t id, std::size_t size) {
    if (size > 0 && nghttp2_is_fatal(nghttp2_session_consume_stream(session_, id, size)) != 0) {
      broken_ = true;
    }
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_RST_STREAM) self(user).count_reset();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    return shielded([&] {
      Http2Session& session = self(user);
      const auto found = session.streams_.find(frame->hd.stream_id);
      if (found == session.streams_.end()) return 0;
      const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
      session.take_frame(found->first, found->second, ends);
      return 0;
    });
  }

  void take_frame(std::int32_t id, Stream& stream, bool ends) {
    if (stream.phase == Phase::kHead) {
      enter(stream, Phase::kBody);
      stream.request.http2 = true;
      stream.request.peer = host_.peer();
      if (stream.large_head || ends || !has_path(stream)) {
        ready_.push_back(id);
        return;
      }
      if (!host_.handler().streams_body(stream.request)) return;
      stream.pipe = std::make_shared<BodyPipe>(host_.waker(id));
      stream.request.stream = stream.pipe->reader();
      ready_.push_back(id);
    } else if (ends) {
      if (stream.pipe) {
        stream.pipe->end(BodySource::State::kEnd);
        stream.pipe = nullptr;
      } else {
        ready_.push_back(id);
      }
    }
  }

  static bool has_path(const Stream& stream) { return stream.request.target.starts_with('/'); }

  /// After a response that came before the end of the request, resets the stream instead of waiting
  /// for the rest.
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const auto found = self(user).streams_.find(frame->hd.stream_id);
    if (found == self(user).streams_.end()) return 0;
    if (!found->second.refused && !found->second.pipe) return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     NGHTTP2_NO_ERROR);
  }

  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    Http2Session& session = self(user);
    // The body source may be inside poll(): it is destroyed after nghttp2 has returned.
    const auto found = session.streams_.find(id);
    if (found == session.streams_.end()) return 0;
    return shielded([&] {
      session.closed_.emplace_back();
      if (session.is_timed(found->second.phase)) --session.timed_;
      break_pipe(found->second);
      session.closed_.back() = session.streams_.extract(found);
      return 0;
    });
  }

  /// A body that is not complete will not become so.
  static void break_pipe(Stream& stream) noexcept {
    if (stream.pipe) stream.pipe->end(BodySource::State::kReset);
  }

  /// Limits the rate of resets: opening and resetting a stream costs the server more than the
  /// client.
  void count_reset() {
    const TimePoint now = host_.now();
    const std::chrono::duration<double> passed = now - std::exchange(last_reset_, now);
    resets_left_ = std::min(kResetBurst, resets_left_ + passed.count() * kResetsPerSecond) - 1;
    if (resets_left_ >= 0 || std::exchange(terminated_, true)) return;
    host_.handler().on_incident(Incident::kStreamResets);
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /// Requests are served outside of nghttp2's callbacks.
  void dispatch_ready() {
    for (const std::int32_t id : std::exchange(ready_, {})) {
      const auto found = streams_.find(id);
      if (found == streams_.end() || found->second.phase != Phase::kBody) continue;
      Stream& stream = found->second;
      if (stream.large_head || stream.large_body) {
        host_.handler().on_incident(stream.large_head ? Incident::kLargeHead
                                                      : Incident::kLargeBody);
        refuse_stream(id, stream.large_head ? Refusal::kLargeHead : Refusal::kLargeBody);
        continue;
      }
      if (!has_path(stream)) {
        refuse_stream(id, Refusal::kMalformed);
        continue;
      }
      ++requests_;
      stream.head_only = stream.request.method == "HEAD";
      enter(stream, Phase::kAnswering);
      auto reply = host_.serve(std::move(stream.request), id);
      if (reply) take(id, stream, *std::move(reply));
    }
    closed_.clear();
  }

  void refuse_stream(std::int32_t id, Refusal why) {
    Stream& stream = streams_.find(id)->second;
    stream.refused = true;
    ++requests_;
    Reply reply = host_.handler().refuse(why, host_.limits());
    reply.close = true;
    take(id, stream, std::move(reply));
  }

  void take(std::int32_t id, Stream& stream, Reply reply) {
    if (ending_ != Ending::kNone) return;
    if (reply.fate == Reply::Fate::kSilent) return host_.silence();
    if (reply.fate == Reply::Fate::kReset || reply.upgrade) {
      ending_ = Ending::kReset;
      return;
    }
    enter(stream, Phase::kSending);
    stream.reply = std::move(reply);
    sanitize(stream.reply.headers);
    submit(id, stream);
    if (stream.reply.close) leave();
  }

  void submit(std::int32_t id, Stream& stream) {
    std::vector<Header> head{{":status", std::to_string(stream.reply.status)}};
    head.reserve(stream.reply.headers.size() + 2);
    for (Header& header : stream.reply.headers) {
      header.name = detail::lower_case(header.name);
      head.push_back(std::move(header));
    }
    const bool sized = stream.reply.length >= 0 || (!stream.reply.source && !stream.reply.chunked);
    if (sized && stream.reply.status != 304 && stream.reply.status != 204) {
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
    if (stream.reply.encode_flush != nullptr && !stream.pending.empty()) {
      stream.pending = stream.reply.encode_flush(stream.pending);
    }
    stream.ended = !stream.reply.source;
    if (stream.reply.source) stream.waker = host_.waker(id);
    const nghttp2_data_provider provider{{.ptr = nullptr}, &read_body};
    const bool bodiless = stream.head_only || stream.reply.status == 304 ||
                          stream.reply.status == 204 || (stream.ended && stream.pending.empty());
    if (nghttp2_submit_response(session_, id, fields.data(), fields.size(),
                                bodiless ? nullptr : &provider) != 0) {
      broken_ = true;
    }
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    const auto found = self(user).streams_.find(id);
    if (found == self(user).streams_.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    try {
      return self(user).read_stream(found->second, {reinterpret_cast<char*>(buffer), length},
                                    *flags);
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;  // ends the connection, like any fatal error
    }
  }

  ssize_t read_stream(Stream& stream, std::span<char> into, std::uint32_t& flags) {
    if (stream.sent == stream.pending.size()) {
      stream.pending.clear();
      stream.sent = 0;
      if (!stream.ended) fill(stream, into.size());
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

  void fill(Stream& stream, std::size_t about) {
    if (!stream.reply.source || broken_) return;
    while (stream.pending.size() < about) {
      auto [state, bytes] = draining_ ? BodySource::Poll{BodySource::State::kEnd, {}}
                                      : stream.reply.source->poll(stream.waker);
      if (state == BodySource::State::kEnd) stream.ended = true;
      if (state == BodySource::State::kReset) broken_ = true;
      if (state == BodySource::State::kSilent) host_.silence();
      if (state != BodySource::State::kChunk) break;
      stream.pending += bytes;
    }
    if (stream.reply.encode_flush != nullptr && !stream.pending.empty()) {
      stream.pending = stream.reply.encode_flush(stream.pending);
    }
  }

  void resume(std::int32_t id, Stream& stream) {
    if (!std::exchange(stream.deferred, false)) return;
    // A stream that is not resumed would wait forever.
    if (nghttp2_is_fatal(nghttp2_session_resume_data(session_, id)) != 0) broken_ = true;
  }

  /// Sends GOAWAY; streams in progress are finished.
  void leave() {
    if (std::exchange(leaving_, true)) return;
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                          nullptr, 0);
  }

  SessionHost& host_;
  const std::size_t header_list_;
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Stream> streams_;
  std::vector<std::map<std::int32_t, Stream>::node_type> closed_;
  std::vector<std::int32_t> ready_;
  std::uint64_t requests_ = 0;
  std::size_t timed_ = 0;  // streams in a phase that has a time limit
  double resets_left_ = kResetBurst;
  TimePoint last_reset_ = host_.now();
  bool fatal_ = false;
  bool broken_ = false;
  bool draining_ = false;
  bool leaving_ = false;
  bool terminated_ = false;
  Ending ending_ = Ending::kNone;
};

}  // namespace

std::unique_ptr<Session> make_http2_session(SessionHost& host) {
  return std::make_unique<Http2Session>(host);
}

}  // namespace kube::server
