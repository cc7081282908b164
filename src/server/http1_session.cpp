// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "body_pipe.hpp"
#include "request_parser.hpp"
#include "session.hpp"

namespace kube::server {
namespace {

/// How much is read ahead of the handler: of pipelined requests, or of a streamed body.
constexpr std::size_t kReadAhead = 65536;

class Http1Session final : public Session {
 public:
  explicit Http1Session(SessionHost& host) : host_(host) { next_request(); }
  ~Http1Session() override {
    if (pipe_) pipe_->end(BodySource::State::kReset);
  }

  void receive(std::string_view bytes) override {
    if (ending_ != Ending::kNone || refused_) return;  // the rest of a refused request is ignored
    if (upgrade_) return upgrade_->receive(bytes);
    if (!input_.empty() || !reads()) {
      input_.append(bytes);
      return read();
    }
    // Usually the request is complete, and need not be copied.
    const std::size_t used = parse(bytes);
    if (used < bytes.size()) keep(bytes.substr(used));
  }

  void produce(std::string& out, std::size_t limit) override {
    if (upgrade_) return produce_upgraded(out, limit);
    if (!interim_.empty()) out.append(std::exchange(interim_, {}));
    while (state_ == State::kSending && ending_ == Ending::kNone && out.size() < limit) {
      if (!head_sent_) send_head(out);
      if (!send_body(out, limit)) break;
    }
  }

  void answer(std::int32_t exchange, Reply reply) override {
    if (state_ == State::kAnswering && exchange == exchange_) take(std::move(reply));
  }

  void woken(std::int32_t /*exchange*/) override { read(); }
  [[nodiscard]] bool wants_input() const override {
    if (refused_) return true;
    if (upgrade_) return upgrade_->wants_input();
    if (pipe_) return pipe_->size() < kReadAhead;
    return state_ == State::kReading || input_.size() < kReadAhead;
  }
  [[nodiscard]] bool idle() const override { return state_ == State::kReading && !partial_; }
  [[nodiscard]] std::uint64_t requests() const override { return requests_; }
  [[nodiscard]] Ending ending() const override { return ending_; }

  void drain() override {
    draining_ = true;
    if (state_ == State::kReading) ending_ = Ending::kClose;
    if (upgrade_) upgrade_->drain();
  }
  void expire() override { ending_ = Ending::kClose; }
  void refuse(Refusal why) override {
    if (ending_ != Ending::kNone || refused_) return;
    if (state_ == State::kSending || idle()) {
      ending_ = Ending::kClose;
    } else {
      respond(host_.handler().refuse(why, host_.limits()));
    }
  }

  [[nodiscard]] TimePoint next_timeout() const override {
    if (refused_ || ending_ != Ending::kNone) return TimePoint::max();
    if (state_ == State::kAnswering) return deadline_of(since_, host_.limits().answer_timeout);
    if (state_ != State::kReading || !partial_) return TimePoint::max();
    return since_ + (parser_->has_head() ? host_.limits().body_timeout
                                         : host_.limits().head_timeout);
  }
  void refuse_slow(TimePoint now) override {
    if (now < next_timeout()) return;
    Handler& handler = host_.handler();
    if (state_ == State::kAnswering) {
      handler.on_incident(Incident::kSlowAnswer);
      return refuse(Refusal::kSlowAnswer);
    }
    const bool head = !parser_->has_head();
    handler.on_incident(head ? Incident::kSlowHead : Incident::kSlowBody);
    refuse(head ? Refusal::kSlowHead : Refusal::kSlowBody);
  }

 private:
  enum class State {
    kReading,    ///< a request arrives
    kAnswering,  ///< the handler has it
    kSending,    ///< the response is sent
  };

  /// Whether input is parsed now: a request, or the body of one that the handler reads.
  [[nodiscard]] bool reads() const {
    return state_ == State::kReading || (pipe_ != nullptr && pipe_->size() < kReadAhead);
  }

  void next_request() {
    parser_.emplace(host_.limits());
    has_head_ = partial_ = false;
    state_ = State::kReading;
  }

  /// Continues with input that was kept.
  void read() {
    if (upgrade_ || refused_ || ending_ != Ending::kNone || !reads() || input_.empty()) return;
    const std::string input = std::exchange(input_, {});
    const std::size_t used = parse(input);
    if (used < input.size()) keep(std::string_view{input}.substr(used));
  }

  void keep(std::string_view rest) {
    if (upgrade_) return upgrade_->receive(rest);
    if (!refused_) input_.assign(rest);
  }

  /// Returns the number of bytes used.
  std::size_t parse(std::string_view bytes) {
    std::size_t used = 0;
    while (reads() && !refused_ && used < bytes.size()) {
      if (!std::exchange(partial_, true)) since_ = host_.now();
      const std::size_t count = parser_->parse(bytes.substr(used));
      used += count;
      if (const auto problem = parser_->problem()) {
        count_large(*problem);
        refuse_request(*problem);
        break;
      }
      if (!has_head_ && parser_->has_head()) begin_body();
      take_body();
      if (parser_->is_complete() && !refused_) {
        finish_body();
      } else if (count == 0) {
        break;
      }
    }
    return refused_ ? bytes.size() : used;
  }

  void begin_body() {
    has_head_ = true;
    since_ = host_.now();
    if (parser_->is_complete()) return;
    if (has_path() && host_.handler().streams_body(parser_->request())) {
      pipe_ = std::make_shared<BodyPipe>(host_.waker(exchange_ + 1));
      parser_->request().stream = pipe_->reader();
    } else if (parser_->announced_length() > host_.limits().max_body) {
      return refuse_large_body();
    }
    if (parser_->expects_continue()) interim_ = "HTTP/1.1 100 Continue\r\n\r\n";
    if (pipe_) dispatch();
  }

  [[nodiscard]] bool has_path() { return parser_->request().target.starts_with('/'); }

  void take_body() {
    const std::string_view piece = parser_->body();
    if (piece.empty() || refused_) return;
    if (pipe_) return pipe_->write(piece);
    std::string& body = parser_->request().body;
    if (body.size() + piece.size() > host_.limits().max_body) return refuse_large_body();
    body.append(piece);
  }

  void finish_body() {
    if (!pipe_) {
      interim_.clear();
      return dispatch();
    }
    pipe_->end(BodySource::State::kEnd);
    pipe_ = nullptr;
  }

  void refuse_large_body() {
    count_large(Refusal::kLargeBody);
    refuse_request(Refusal::kLargeBody);
  }

  void count_large(Refusal why) {
    if (why == Refusal::kLargeHead) host_.handler().on_incident(Incident::kLargeHead);
    if (why == Refusal::kLargeBody) host_.handler().on_incident(Incident::kLargeBody);
  }

  void refuse_request(Refusal why) {
    if (pipe_) {
      // The handler has the request already, and its response may have begun.
      pipe_->end(BodySource::State::kReset);
      pipe_ = nullptr;
      ending_ = Ending::kBreak;
      refused_ = true;
      return;
    }
    respond(host_.handler().refuse(why, host_.limits()));
  }

  /// Answers without the handler, and ends.
  void respond(Reply reply) {
    refused_ = true;
    input_.clear();
    interim_.clear();
    if (state_ == State::kReading) head_only_ = parser_->request().method == "HEAD";
    state_ = State::kAnswering;
    take(std::move(reply));
  }

  void dispatch() {
    ++requests_;
    ++exchange_;
    const bool refuses = !has_path();
    Request request = std::move(parser_->request());
    request.peer = host_.peer();
    keep_alive_ = parser_->keeps_alive();
    http10_ = parser_->is_http10();
    head_only_ = request.method == "HEAD";
    state_ = State::kAnswering;
    since_ = host_.now();
    if (refuses) return refuse_request(Refusal::kMalformed);
    if (auto reply = host_.serve(std::move(request), exchange_)) take(*std::move(reply));
  }

  void take(Reply reply) {
    if (reply.fate == Reply::Fate::kSilent) return host_.silence();
    if (reply.fate == Reply::Fate::kReset) {
      ending_ = Ending::kReset;
      return;
    }
    reply_ = std::move(reply);
    body_sent_ = 0;
    sanitize(reply_.headers);
    head_sent_ = false;
    state_ = State::kSending;
    if (reply_.upgrade) upgrade();
  }

  void upgrade() {
    append_head(interim_);
    interim_ += "\r\n";
    upgrade_ = std::move(reply_.upgrade);
    waker_ = host_.waker(exchange_);
    if (draining_) upgrade_->drain();
    if (!input_.empty()) upgrade_->receive(std::exchange(input_, {}));
  }

  void produce_upgraded(std::string& out, std::size_t limit) {
    out.append(std::exchange(interim_, {}));
    while (ending_ == Ending::kNone && out.size() < limit) {
      const auto [state, bytes] = upgrade_->poll(waker_);
      switch (state) {
        case BodySource::State::kChunk:
          out += bytes;
          break;
        case BodySource::State::kWait:
          return;
        case BodySource::State::kEnd:
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

  /// Appends the status line and the headers of the reply.
  void append_head(std::string& out) const {
    auto to = std::back_inserter(out);
    fmt::format_to(to, "HTTP/1.1 {} {}\r\n", reply_.status, reason_phrase(reply_.status));
    for (const Header& header : reply_.headers) {
      fmt::format_to(to, "{}: {}\r\n", header.name, header.value);
    }
  }

  void send_head(std::string& out) {
    head_sent_ = true;
    if (reply_.close || draining_ || http10_ || refused_) keep_alive_ = false;
    const bool bodiless = reply_.status == 304 || reply_.status == 204;
    const bool unsized = !bodiless && (reply_.chunked || (reply_.source && reply_.length < 0));
    chunked_ = unsized && !http10_;
    append_head(out);
    if (!keep_alive_) out += "Connection: close\r\n";
    if (chunked_) {
      out += "Transfer-Encoding: chunked\r\n";
    } else if (!unsized && !bodiless) {
      fmt::format_to(
          std::back_inserter(out), "Content-Length: {}\r\n",
          reply_.length >= 0 ? static_cast<std::size_t>(reply_.length) : reply_.body.size());
    }
    out += "\r\n";
    if (bodiless || head_only_) {
      reply_.source.reset();
      reply_.body.clear();
      chunked_ = false;
    }
    if (reply_.source) waker_ = host_.waker(exchange_);
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
    // A body without a source is sent in pieces, so that it is not copied as a whole.
    if (!reply_.source && reply_.encode_flush == nullptr) {
      const std::string_view rest = std::string_view{reply_.body}.substr(body_sent_);
      const std::size_t room = limit > out.size() ? limit - out.size() : 0;
      const std::string_view piece = rest.substr(0, room);
      send_piece(out, piece);
      body_sent_ += piece.size();
      return piece.size() < rest.size() || finish(out);
    }
    std::string batch = std::exchange(reply_.body, {});
    auto state = BodySource::State::kEnd;
    if (reply_.source) {
      state = BodySource::State::kWait;
      while (out.size() + batch.size() < limit) {
        auto [polled, bytes] =
            draining_ ? BodySource::Poll{BodySource::State::kEnd, {}} : reply_.source->poll(waker_);
        state = polled;
        if (polled != BodySource::State::kChunk) break;
        if (batch.empty()) {
          batch = std::move(bytes);
        } else {
          batch += bytes;
        }
      }
    }
    if (reply_.encode_flush != nullptr && !batch.empty()) batch = reply_.encode_flush(batch);
    send_piece(out, batch);
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
    return finish(out);
  }

  /// Ends the response. Returns true if another one can be sent at once.
  bool finish(std::string& out) {
    if (chunked_) out += "0\r\n\r\n";
    reply_ = {};
    // The rest of a body that nobody reads is not worth waiting for.
    if (!keep_alive_ || draining_ || pipe_) {
      ending_ = Ending::kClose;
      return false;
    }
    next_request();
    read();
    return true;
  }

  SessionHost& host_;
  std::optional<RequestParser> parser_;
  State state_ = State::kReading;
  /// The start of the head or body that is being received, or of the handler's work.
  TimePoint since_{};
  std::uint64_t requests_ = 0;
  std::int32_t exchange_ = 0;
  std::string input_;    // not parsed yet
  std::string interim_;  // sent before anything else
  Reply reply_;
  std::size_t body_sent_ = 0;
  std::function<void()> waker_;
  std::shared_ptr<BodyPipe> pipe_;  // set while the handler reads a body that is not complete
  std::unique_ptr<UpgradedStream> upgrade_;
  bool has_head_ = false;
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

std::unique_ptr<Session> make_http1_session(SessionHost& host) {
  return std::make_unique<Http1Session>(host);
}

}  // namespace kube::server
