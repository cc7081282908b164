// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace kube::detail {

/// What both versions of HTTP need to know to write requests and to limit answers.
struct SessionSettings {
  std::string scheme;
  /// Host and port as they stand in Host and :authority.
  std::string authority;
  /// Put before each target.
  std::string path_prefix;
  std::size_t max_header_bytes = 0;
  std::size_t stream_buffer_bytes = 0;
  bool ask_for_gzip = true;
  // What exchanges fail with where nothing may be allocated or thrown, hence made beforehand:
  TransportError out_of_memory{TransportError::Kind::kConnectionLost, "out of memory"};
  TransportError connection_closed{TransportError::Kind::kConnectionLost, "connection closed"};
};

/// The current exception as an exchange fails with it. To be called in a catch block.
[[nodiscard]] TransportError current_failure(const SessionSettings& settings) noexcept;

/// HTTP on one connection, without the connection: bytes go in and come out, exchanges make progress. Belongs to the
/// loop's thread.
///
/// An exchange that has begun leaves the session done (answered or failed) or through `returned`. After a method threw,
/// fail_all() is the only one that may be called.
class Session {
 public:
  /// Exchanges that the peer surely has not looked at go to `returned`, to begin again elsewhere. Both arguments must
  /// outlive the session.
  Session(const SessionSettings& settings, ExchangeQueue& returned) noexcept
      : settings_(settings), returned_(returned) {}
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// "HTTP/2"
  [[nodiscard]] virtual const char* protocol() const noexcept = 0;
  /// How many exchanges may begin now.
  [[nodiscard]] virtual std::size_t room() const = 0;
  /// False: how many exchanges fit is not known yet.
  [[nodiscard]] virtual bool settled() const = 0;
  /// How many are expected to fit at once.
  [[nodiscard]] virtual std::size_t width() const = 0;
  [[nodiscard]] virtual std::size_t active() const = 0;
  /// False: no exchange may begin any more; the connection is closed once none is active.
  [[nodiscard]] virtual bool reusable() const = 0;
  /// False: the reader is behind, leave the bytes in the socket.
  [[nodiscard]] virtual bool wants_input() const = 0;
  /// True: the peer sends nothing but answers, so input that is there before a request was sent belongs to none, and
  /// would be taken for its answer.
  [[nodiscard]] virtual bool only_answers() const noexcept = 0;

  virtual void begin(const std::shared_ptr<Exchange>& exchange) = 0;
  /// The reader has made room, or the exchange is done before its answer was complete.
  virtual void attend(const std::shared_ptr<Exchange>& exchange) = 0;
  /// Throws TransportError if that is not HTTP; the connection is useless then.
  virtual void receive(std::string_view bytes) = 0;
  /// The peer has closed its side, properly.
  virtual void end_of_input() = 0;
  /// What is to be sent next; valid until sent().
  [[nodiscard]] virtual std::string_view output() = 0;
  virtual void sent(std::size_t bytes) = 0;
  /// Asks the peer to say something. Returns false if the protocol cannot.
  virtual bool ping() = 0;
  /// The connection is gone.
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

/// The request's headers as they are sent: without those that belong to the connection, and with
/// Accept-Encoding where it is wanted.
[[nodiscard]] Headers headers_to_send(const HttpRequest& request, const SessionSettings& settings);

/// Added to the size of each header field, as HTTP/2 does: it bounds the number of fields, too.
inline constexpr std::size_t kHeaderOverhead = 32;
/// How many 1xx answers may come before the answer itself.
inline constexpr int kMaxInformational = 10;

[[nodiscard]] TransportError headers_too_large(const SessionSettings& settings);
[[nodiscard]] TransportError trailers_too_large(const SessionSettings& settings);
[[nodiscard]] TransportError too_many_informational(const SessionSettings& settings);

}  // namespace kube::detail
