// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

/// Settings for writing requests and limiting responses, for both versions of HTTP.
struct SessionSettings {
  std::string scheme;
  /// Host and port as sent in Host and :authority.
  std::string authority;
  /// Prepended to each target.
  std::string path_prefix;
  std::size_t max_header_bytes = 0;
  std::size_t stream_buffer_bytes = 0;
  bool ask_for_gzip = true;
  // Preallocated errors, for code that may neither allocate nor throw:
  TransportError out_of_memory{TransportError::Kind::kConnectionLost, "out of memory"};
  TransportError connection_closed{TransportError::Kind::kConnectionLost, "connection closed"};
};

/// Returns the current exception as the error of an exchange. Call only in a catch block.
[[nodiscard]] TransportError current_failure(const SessionSettings& settings) noexcept;

/// HTTP on one connection, independent of the connection itself: consumes and produces bytes and
/// advances exchanges. Used on the loop's thread.
///
/// A started exchange leaves the session when it is done (completed or failed) or through
/// `returned`. After a method has thrown, only fail_all() may be called.
class Session {
 public:
  /// `returned` receives exchanges that the peer has certainly not processed, to be started on
  /// another connection. Both arguments must outlive the session.
  Session(const SessionSettings& settings, ExchangeQueue& returned) noexcept
      : settings_(settings), returned_(returned) {}
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// "HTTP/2"
  [[nodiscard]] virtual const char* protocol() const noexcept = 0;
  /// Returns how many exchanges may start now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  /// False while the maximum number of exchanges is not known yet.
  [[nodiscard]] virtual bool settled() const = 0;
  /// Returns how many exchanges are expected to fit at once.
  [[nodiscard]] virtual std::size_t width() const = 0;
  [[nodiscard]] virtual std::size_t active() const = 0;
  /// False if no further exchange may start. The connection is closed once none is active.
  [[nodiscard]] virtual bool reusable() const = 0;
  /// False if the reader is behind: leave the bytes in the socket.
  [[nodiscard]] virtual bool wants_input() const = 0;
  /// True if the peer sends only responses. Input received before a request was sent must then not
  /// be taken for its response.
  [[nodiscard]] virtual bool only_answers() const noexcept = 0;

  virtual void begin(const std::shared_ptr<Exchange>& exchange) = 0;
  /// Called when the reader has made room, or when the exchange ends before its response is
  /// complete.
  virtual void attend(const std::shared_ptr<Exchange>& exchange) = 0;
  /// Consumes input. Throws TransportError if it is not valid HTTP; the connection is unusable
  /// then.
  virtual void receive(std::string_view bytes) = 0;
  /// Called when the peer has closed its side properly.
  virtual void end_of_input() = 0;
  /// Returns the bytes to send next; valid until sent().
  [[nodiscard]] virtual std::string_view output() = 0;
  virtual void sent(std::size_t bytes) = 0;
  /// Sends a PING. Returns false if the protocol has none.
  virtual bool ping() = 0;
  /// Fails all exchanges, because the connection is lost.
  virtual void fail_all(const TransportError& error) noexcept = 0;

 protected:
  void give_back(std::shared_ptr<Exchange> exchange) noexcept {
    exchange->connection = nullptr;
    returned_.push(std::move(exchange));
  }

  const SessionSettings& settings_;

 private:
  ExchangeQueue& returned_;
};

[[nodiscard]] std::unique_ptr<Session> make_http1_session(const SessionSettings& settings,
                                                          ExchangeQueue& returned);
[[nodiscard]] std::unique_ptr<Session> make_http2_session(const SessionSettings& settings,
                                                          ExchangeQueue& returned);

/// Returns the headers to send: without connection headers, and with Accept-Encoding if wanted.
[[nodiscard]] Headers headers_to_send(const HttpRequest& request, const SessionSettings& settings);

/// Added to the size of each header field, as in HTTP/2, to bound the number of fields as well.
inline constexpr std::size_t kHeaderOverhead = 32;
/// Maximum number of 1xx responses before the final response.
inline constexpr int kMaxInformational = 10;

[[nodiscard]] TransportError headers_too_large(const SessionSettings& settings);
[[nodiscard]] TransportError trailers_too_large(const SessionSettings& settings);
[[nodiscard]] TransportError too_many_informational(const SessionSettings& settings);

}  // namespace kube::detail
