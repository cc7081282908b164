// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/http1_session.hpp"

#include "testkit/http/websocket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace kube::testkit::detail {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kReadAhead = 65536;

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

/// Beast's parser with a custom message type: Beast's own throws on long fields.
class RequestParser final : public http::basic_parser<true> {
 public:
  [[nodiscard]] ServerRequest take() { return std::move(request_); }
  [[nodiscard]] bool expects_continue() const {
    const std::string* value = find_header(request_.headers, "Expect");
    return value != nullptr && boost::beast::iequals(*value, "100-continue");
  }
  [[nodiscard]] bool is_http10() const noexcept { return version_ < 11; }

 private:
  using Error = boost::beast::error_code;
  using View = boost::beast::string_view;

  void on_request_impl(http::verb /*method*/, View method, View target, int version,
                       Error& /*error*/) override {
    request_.method = text(method);
    request_.target = text(target);
    version_ = version;
  }
  void on_response_impl(int /*code*/, View /*reason*/, int /*version*/, Error& /*error*/) override {
  }
  void on_field_impl(http::field /*field*/, View name, View value, Error& error) override {
    if (++fields_ > kHeaderCount) {
      error = http::error::header_limit;
    } else if (!is_header_done()) {  // ignores trailers
      request_.headers.push_back({text(name), text(value)});
    }
  }
  void on_header_impl(Error& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         Error& /*error*/) override {}
  std::size_t on_body_impl(View body, Error& /*error*/) override {
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, View /*extensions*/,
                            Error& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, View body, Error& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(Error& /*error*/) override {}

  ServerRequest request_;
  std::size_t fields_ = 0;
  int version_ = 11;
};

class Http1Session final : public Session {
 public:
  Http1Session(SessionHost& host, std::optional<PeerCertificate> certificate)
      : host_(host), certificate_(std::move(certificate)), waker_(host.waker(0)) {
    next_request();
  }

  void receive(std::string_view bytes) override {
    if (ending_ != Ending::kNone || refused_) return;  // the rest of a refused request is ignored
    if (websocket_) return receive_websocket(bytes);
    input_.append(bytes);
    if (state_ == State::kReading) read();
  }

  void produce(std::string& out, std::size_t limit) override {
    if (websocket_) return produce_websocket(out, limit);
    while (state_ == State::kSending && ending_ == Ending::kNone && out.size() < limit) {
      if (!head_sent_) send_head(out);
      if (!send_body(out, limit)) break;
    }
    if (state_ == State::kReading) out.append(std::exchange(interim_, {}));
  }

  void woken(std::int32_t /*stream*/) override { host_.wake(); }
  [[nodiscard]] bool wants_input() const override {
    return refused_ || state_ == State::kReading || input_.size() < kReadAhead;
  }
  [[nodiscard]] bool idle() const override { return state_ == State::kReading && !partial_; }
  [[nodiscard]] std::uint64_t requests() const override { return requests_; }
  [[nodiscard]] Ending ending() const override { return ending_; }

  void drain() override {
    draining_ = true;
    if (state_ == State::kReading) ending_ = Ending::kClose;
    host_.wake();
  }
  void refuse_slow(Time now) override {
    if (state_ != State::kReading || !partial_) return;
    const bool head = !parser_->is_header_done();
    const auto limit = head ? host_.limits().head_timeout : host_.limits().body_timeout;
    if (now - since_ < limit) return;
    ++(head ? host_.counters().slow_heads : host_.counters().slow_bodies);
    refuse(too_slow(head ? "head" : "body", limit));
  }
  void expire() override {
    ending_ = Ending::kClose;
    host_.wake();
  }

 private:
  enum class State { kReading, kAnswering, kSending };

  void next_request() {
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(kBodyLimit);
    parser_->eager(true);
    continued_ = partial_ = false;
    state_ = State::kReading;
  }

  void read() {
    while (state_ == State::kReading && !input_.empty()) {
      if (!std::exchange(partial_, true)) since_ = std::chrono::steady_clock::now();
      boost::beast::error_code error;
      const std::size_t used = parser_->put(boost::asio::buffer(input_), error);
      input_.erase(0, used);
      if (error && error != http::error::need_more) return refuse(error);
      if (parser_->is_done()) return dispatch();
      if (parser_->is_header_done() && !continued_) {
        continued_ = true;
        since_ = std::chrono::steady_clock::now();
        if (parser_->expects_continue()) {
          interim_ = "HTTP/1.1 100 Continue\r\n\r\n";
          host_.wake();
        }
      }
      // The remaining input is an incomplete line, which must end within the limit.
      if (input_.size() > kHeaderLimit) return refuse(http::error::header_limit);
      if (error == http::error::need_more || used == 0) return;
    }
  }

  void refuse(const boost::beast::error_code& error) {
    if (error == http::error::body_limit) {
      ++host_.counters().large_bodies;
      return refuse(body_too_large());
    }
    if (error == http::error::header_limit) {
      ++host_.counters().large_heads;
      return refuse(text_reply(431, "431 Request Header Fields Too Large"));
    }
    refuse(text_reply(400, "400 Bad Request"));
  }

  void refuse(Reply reply) {
    refused_ = true;
    input_.clear();
    interim_.clear();
    state_ = State::kAnswering;
    answer(std::move(reply));
  }

  void dispatch() {
    ++requests_;
    ServerRequest request = parser_->take();
    request.certificate = certificate_;
    keep_alive_ = parser_->keep_alive();
    interim_.clear();
    http10_ = parser_->is_http10();
    head_only_ = request.method == "HEAD";
    handshake_.reset();
    if (asks_for_websocket(request.headers)) handshake_.emplace(request.headers);
    state_ = State::kAnswering;
    if (!request.target.starts_with('/')) {
      refused_ = true;
      return answer(text_reply(400, "400 Bad Request"));
    }
    host_.serve(std::move(request), [this](Reply reply) { answer(std::move(reply)); });
  }

  void answer(Reply reply) {
    if (reply.fate == Reply::Fate::kSilent) return host_.silence();
    if (reply.fate == Reply::Fate::kReset) {
      ending_ = Ending::kReset;
      return host_.wake();
    }
    reply_ = std::move(reply);
    if (handshake_ && reply_.source && reply_.status == 200) upgrade();
    head_sent_ = false;
    state_ = State::kSending;
    host_.wake();
  }

  /// Upgrades to WebSocket. Only watches are upgraded, as only they have a body of unlimited length
  /// (WT-27).
  void upgrade() {
    if (!handshake_->problem.empty()) {
      reply_ = text_reply(400, handshake_->problem);
      return;
    }
    const std::string* type = find_header(reply_.headers, "Content-Type");
    frame_opcode_ = type != nullptr && type->find("protobuf") != std::string::npos
                        ? WebSocketOpcode::kBinary
                        : WebSocketOpcode::kText;
    websocket_.emplace();
    interim_ = handshake_->head;
    receive_websocket(std::exchange(input_, {}));
  }

  void receive_websocket(std::string_view bytes) {
    websocket_->feed(bytes, interim_);
    if (!interim_.empty()) host_.wake();
  }

  void produce_websocket(std::string& out, std::size_t limit) {
    out.append(std::exchange(interim_, {}));
    if (websocket_->is_closed()) {
      reply_ = {};
      ending_ = Ending::kClose;
      return;
    }
    while (ending_ == Ending::kNone && out.size() < limit) {
      auto [state, bytes] =
          draining_ ? BodySource::Poll{BodySource::State::kEnd, {}} : reply_.source->poll(waker_);
      switch (state) {
        case BodySource::State::kChunk:
          append_websocket_frame(out, frame_opcode_, bytes);
          break;
        case BodySource::State::kWait:
          return;
        case BodySource::State::kEnd:
          append_websocket_frame(out, WebSocketOpcode::kClose, websocket_close_payload(1000));
          ending_ = Ending::kClose;
          return;
        case BodySource::State::kReset:
          ending_ = Ending::kBreak;
          return;
        case BodySource::State::kSilent:
          return host_.silence();
      }
    }
  }

  void send_head(std::string& out) {
    head_sent_ = true;
    if (reply_.close || draining_ || http10_ || refused_) keep_alive_ = false;
    const bool bodiless = reply_.status == 304 || reply_.status == 204;
    const bool unsized = !bodiless && (reply_.chunked || (reply_.source && reply_.length < 0));
    chunked_ = unsized && !http10_;
    auto to = std::back_inserter(out);
    fmt::format_to(to, "HTTP/1.1 {} {}\r\n", reply_.status, reason_phrase(reply_.status));
    for (const Header& header : reply_.headers) {
      fmt::format_to(to, "{}: {}\r\n", header.name, header.value);
    }
    if (!keep_alive_) out += "Connection: close\r\n";
    if (chunked_) {
      out += "Transfer-Encoding: chunked\r\n";
    } else if (!unsized && !bodiless) {
      fmt::format_to(
          to, "Content-Length: {}\r\n",
          reply_.length >= 0 ? static_cast<std::size_t>(reply_.length) : reply_.body.size());
    }
    out += "\r\n";
    if (bodiless || head_only_) {
      reply_.source.reset();
      reply_.body.clear();
      chunked_ = false;
    }
  }

  void send_piece(std::string& out, std::string_view bytes) const {
    if (bytes.empty()) return;
    if (!chunked_) {
      out.append(bytes);
      return;
    }
    fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
    out.append(bytes);
    out += "\r\n";
  }

  /// Returns false if there is nothing more to send now.
  bool send_body(std::string& out, std::size_t limit) {
    batch_ = std::exchange(reply_.body, {});
    auto state = BodySource::State::kEnd;
    if (reply_.source) {
      state = BodySource::State::kWait;
      while (out.size() + batch_.size() < limit) {
        auto [polled, bytes] =
            draining_ ? BodySource::Poll{BodySource::State::kEnd, {}} : reply_.source->poll(waker_);
        state = polled;
        if (polled != BodySource::State::kChunk) break;
        batch_ += bytes;
      }
    }
    send_piece(out, reply_.gzip_flushes && !batch_.empty() ? gzip(batch_) : batch_);
    switch (state) {
      case BodySource::State::kChunk:
        return true;
      case BodySource::State::kWait:
        return false;
      case BodySource::State::kEnd:
        break;
      case BodySource::State::kReset:
        ending_ = Ending::kBreak;
        return false;
      case BodySource::State::kSilent:
        host_.silence();
        return false;
    }
    if (chunked_) out += "0\r\n\r\n";
    reply_ = {};
    if (!keep_alive_ || draining_) {
      ending_ = Ending::kClose;
      return false;
    }
    next_request();
    read();
    return true;
  }

  SessionHost& host_;
  const std::optional<PeerCertificate> certificate_;
  const std::function<void()> waker_;
  std::optional<RequestParser> parser_;
  State state_ = State::kReading;
  /// The start of the head or body that is being received.
  Time since_;
  std::uint64_t requests_ = 0;
  std::string input_;
  std::string interim_;
  std::string batch_;
  Reply reply_;
  /// Set if the request asks for WebSocket; `websocket_` is set once the upgrade is done.
  std::optional<WebSocketHandshake> handshake_;
  std::optional<WebSocketReader> websocket_;
  WebSocketOpcode frame_opcode_ = WebSocketOpcode::kText;
  bool continued_ = false;
  bool keep_alive_ = true;
  bool http10_ = false;
  bool head_only_ = false;
  bool head_sent_ = false;
  bool chunked_ = false;
  bool refused_ = false;
  bool draining_ = false;
  bool partial_ = false;
  Ending ending_ = Ending::kNone;
};

}  // namespace

std::unique_ptr<Session> make_http1_session(SessionHost& host,
                                            std::optional<PeerCertificate> certificate) {
  return std::make_unique<Http1Session>(host, std::move(certificate));
}

}  // namespace kube::testkit::detail
