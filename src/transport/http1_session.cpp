// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "peer_text.hpp"
#include "session.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

/// Maximum number of bytes buffered for the reader. The kernel buffers the rest, which lets the
/// server continue to send; a larger buffer would not fit into the processor's cache.
constexpr std::size_t kReadAhead = std::size_t{256} << 10;
/// A body up to this size is sent with the head: copying it is faster than a second send.
constexpr std::size_t kSentWithHead = std::size_t{16} << 10;
/// Limit for chunk-size lines and for a trailer line.
constexpr std::size_t kMaxLine = 4096;

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// Returns whether a comma-separated list contains a word: "close, TE" contains "close".
bool lists_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (same_word(trimmed(list.substr(0, comma), kBlank), word)) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

class Http1Session final : public Session {
 public:
  using Session::Session;

  [[nodiscard]] const char* protocol() const noexcept override { return "HTTP/1.1"; }
  [[nodiscard]] std::size_t room() const override {
    return reusable() && exchange_ == nullptr ? 1 : 0;
  }
  [[nodiscard]] bool settled() const override { return true; }
  [[nodiscard]] std::size_t width() const override { return 1; }
  [[nodiscard]] std::size_t active() const override { return exchange_ != nullptr ? 1 : 0; }
  [[nodiscard]] bool reusable() const override { return !closing_; }
  [[nodiscard]] bool wants_input() const override {
    return exchange_ == nullptr || !exchange_->full();
  }
  [[nodiscard]] bool only_answers() const noexcept override { return true; }

  void begin(const std::shared_ptr<Exchange>& exchange) override {
    exchange->limit_buffer(kReadAhead);
    const HttpRequest& request = exchange->request;
    head_to_send_ = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", request.method,
                                settings_.path_prefix, request.target, settings_.authority);
    for (const Header& header : headers_to_send(request, settings_)) {
      head_to_send_ += header.name + ": " + header.value + "\r\n";
    }
    head_to_send_ += "\r\n";
    with_head_ = request.body.size() <= kSentWithHead ? request.body.size() : 0;
    head_to_send_.append(request.body, 0, with_head_);
    pending_ = head_to_send_;
    exchange_ = exchange;
    exchange_->offset = 0;
    state_ = State::kHead;
    head_.clear();
    informational_ = 0;
    ++begun_;
  }

  void attend(const std::shared_ptr<Exchange>& exchange) override {
    if (exchange != exchange_) return;
    (void)exchange->take_credit();
    if (exchange->done()) {
      // The connection cannot be reused: the rest of the response is still to come.
      exchange_ = nullptr;
      closing_ = true;
    }
  }

  void receive(std::string_view bytes) override {
    if (exchange_ == nullptr) {  // a server that explains why it closes an idle connection
      closing_ = true;
      return;
    }
    while (!bytes.empty() && exchange_ != nullptr) {
      switch (state_) {
        case State::kHead:
          receive_head(bytes);
          break;
        case State::kCounted:
        case State::kChunk:
          receive_counted(bytes);
          break;
        case State::kUntilClose:
          exchange_->on_bytes(bytes);
          bytes = {};
          break;
        case State::kChunkSize:
        case State::kChunkEnd:
        case State::kTrailers:
          receive_line(bytes);
          break;
      }
    }
    if (exchange_ != nullptr) exchange_->flush();
    if (!bytes.empty()) closing_ = true;  // data beyond the response
  }

  void end_of_input() override {
    closing_ = true;
    if (exchange_ == nullptr) return;
    if (state_ == State::kUntilClose) return finish();
    fail_all({Kind::kConnectionLost, fmt::format("{}: the server closed the connection {}",
                                                 settings_.authority, place())});
  }

  [[nodiscard]] std::string_view output() override {
    if (pending_.empty() && exchange_ != nullptr && !head_to_send_.empty()) {
      std::string{}.swap(head_to_send_);  // a watch would keep it for a long time
      pending_ = std::string_view{exchange_->request.body}.substr(with_head_);
    }
    return exchange_ == nullptr ? std::string_view{} : pending_;
  }

  void sent(std::size_t bytes) override {
    pending_.remove_prefix(bytes);
    if (head_to_send_.empty()) {
      exchange_->offset += bytes;
    } else {
      exchange_->offset = with_head_ - std::min(with_head_, pending_.size());
    }
  }

  bool ping() override { return false; }

  void fail_all(const TransportError& error) noexcept override {
    closing_ = true;
    if (exchange_ == nullptr) return;
    std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
    const std::string& method = exchange->request.method;
    // The server closed an idle connection while the request was in flight.
    if (error.kind() == Kind::kConnectionLost && begun_ > 1 && state_ == State::kHead &&
        head_.empty() && informational_ == 0 && (method == "GET" || method == "HEAD") &&
        !exchange->done()) {
      give_back(std::move(exchange));
    } else {
      exchange->fail(error);
    }
  }

 private:
  enum class State { kHead, kCounted, kUntilClose, kChunkSize, kChunk, kChunkEnd, kTrailers };

  [[noreturn]] void refuse(std::string_view what) const {
    throw TransportError(Kind::kProtocol, fmt::format("{}: the answer is not HTTP/1.1: {}",
                                                      settings_.authority, what));
  }

  [[nodiscard]] const char* place() const {
    if (state_ != State::kHead) return "in the middle of the body";
    return head_.empty() ? "before it answered" : "in the middle of the headers";
  }

  void receive_head(std::string_view& bytes) {
    const std::size_t before = head_.size();
    head_.append(bytes);
    const auto end = head_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
    // If the head is incomplete, its last three bytes may belong to the terminator.
    const std::size_t size =
        end != std::string::npos ? end : std::max<std::size_t>(head_.size(), 3) - 3;
    if (size > settings_.max_header_bytes) throw headers_too_large(settings_);
    if (before < 5 && head_.compare(0, std::min<std::size_t>(5, head_.size()), "HTTP/", 0,
                                    std::min<std::size_t>(5, head_.size())) != 0) {
      refuse(fmt::format("it begins with {} other bytes", head_.size()));
    }
    if (end == std::string::npos) {
      bytes = {};
      return;
    }
    bytes.remove_prefix(end + 4 - before);
    head_.resize(end + 2);
    HttpResponseHead head = parse_head();
    if (head.status == 101) refuse("it switches to another protocol");
    if (head.status < 200) {
      if (++informational_ > kMaxInformational) throw too_many_informational(settings_);
      head_.clear();  // another head follows
      return;
    }
    std::string{}.swap(head_);
    choose_body(head);
    exchange_->on_head(std::move(head));
    if (state_ == State::kCounted && left_ == 0) finish();
  }

  /// Returns the length of the name in "Name: value".
  std::size_t field_name(std::string_view line) const {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 ||
        line.substr(0, colon).find_first_of(kBlank) != std::string_view::npos) {
      refuse("a header line has no name");
    }
    if (!is_field_text(line)) refuse("a header line has control characters in it");
    return colon;
  }

  HttpResponseHead parse_head() {
    std::string_view text = head_;
    const auto next_line = [&text] {
      const auto end = text.find("\r\n");
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end + 2);
      return line;
    };
    HttpResponseHead head;
    const std::string_view first = next_line();
    // "HTTP/1.1 200 OK"
    if (first.size() < 12 || !first.starts_with("HTTP/1.") || first[8] != ' ' ||
        std::from_chars(first.data() + 9, first.data() + 12, head.status).ptr !=
            first.data() + 12 ||
        head.status < 100) {
      refuse("it has no status line");
    }
    if (!is_field_text(first)) refuse("its status line has control characters in it");
    keep_alive_ = first[7] == '1';
    while (!text.empty()) {
      const std::string_view line = next_line();
      const std::size_t name = field_name(line);
      head.headers.push_back({.name = std::string{line.substr(0, name)},
                              .value = std::string{trimmed(line.substr(name + 1), kBlank)}});
    }
    return head;
  }

  void choose_body(const HttpResponseHead& head) {
    std::optional<std::uint64_t> length;
    bool chunked = false;
    for (const Header& header : head.headers) {
      if (same_word(header.name, "Connection") && lists_word(header.value, "close")) {
        keep_alive_ = false;
      } else if (same_word(header.name, "Transfer-Encoding")) {
        if (!same_word(header.value, "chunked")) refuse("an unknown transfer encoding");
        chunked = true;
      } else if (same_word(header.name, "Content-Length")) {
        std::uint64_t value = 0;
        const char* end = header.value.data() + header.value.size();
        const auto parsed = std::from_chars(header.value.data(), end, value);
        if (parsed.ec != std::errc{} || parsed.ptr != end || (length && *length != value)) {
          refuse("its Content-Length is invalid");
        }
        length = value;
      }
    }
    left_ = 0;
    if (exchange_->request.method == "HEAD" || head.status == 204 || head.status == 304) {
      state_ = State::kCounted;
    } else if (chunked) {
      if (length) keep_alive_ = false;
      state_ = State::kChunkSize;
      line_.clear();
    } else if (length) {
      state_ = State::kCounted;
      left_ = *length;
    } else {
      state_ = State::kUntilClose;
      keep_alive_ = false;
    }
  }

  void receive_counted(std::string_view& bytes) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    exchange_->on_bytes(bytes.substr(0, size));
    bytes.remove_prefix(size);
    left_ -= size;
    if (left_ > 0) return;
    if (state_ == State::kCounted) return finish();
    state_ = State::kChunkEnd;
  }

  void receive_line(std::string_view& bytes) {
    const auto end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    line_.append(part);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    if (line_.size() > kMaxLine) {
      refuse(state_ == State::kTrailers ? "a trailer does not end"
                                        : "the line before a chunk does not end");
    }
    if (end == std::string_view::npos) return;
    if (!line_.ends_with('\r')) refuse("a line in the body does not end with CR LF");
    line_.pop_back();
    const std::string line = std::exchange(line_, {});
    if (state_ == State::kTrailers) {
      if (line.empty()) return finish();
      trailer_bytes_ += line.size() + kHeaderOverhead;
      if (trailer_bytes_ > settings_.max_header_bytes) throw trailers_too_large(settings_);
      (void)field_name(line);
      return;
    }
    if (!is_field_text(line)) refuse("the line before a chunk has control characters in it");
    if (state_ == State::kChunkEnd) {
      if (!line.empty()) refuse("a chunk is longer than announced");
      state_ = State::kChunkSize;
      return;
    }
    const std::string_view digits =
        trimmed(std::string_view{line}.substr(0, line.find(';')), kBlank);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
    if (digits.empty() || parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) {
      refuse("a chunk has no length");
    }
    trailer_bytes_ = 0;
    state_ = left_ == 0 ? State::kTrailers : State::kChunk;
  }

  void finish() {
    // A response that arrived before the whole request was sent leaves the connection in an
    // undefined state.
    if (!keep_alive_ || !output().empty()) closing_ = true;
    const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
    exchange->on_end();
    exchange->flush();
  }

  std::shared_ptr<Exchange> exchange_;
  State state_ = State::kHead;
  bool closing_ = false;
  bool keep_alive_ = true;
  std::size_t begun_ = 0;
  int informational_ = 0;  ///< 1xx responses of the exchange so far
  std::string head_to_send_;
  std::size_t with_head_ = 0;  ///< bytes of the body that follow the head
  std::string_view pending_;
  std::string head_;
  std::string line_;
  std::size_t trailer_bytes_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace

std::unique_ptr<Session> make_http1_session(const SessionSettings& settings,
                                            ExchangeQueue& returned) {
  return std::make_unique<Http1Session>(settings, returned);
}

}  // namespace kube::detail
