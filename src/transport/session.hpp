// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
};

/// HTTP on one connection, without the connection: bytes go in and come out, exchanges make progress. All of
/// it happens in the loop's thread.
class Session {
 public:
  Session() = default;
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

  virtual void begin(const std::shared_ptr<Exchange>& exchange) = 0;
  /// The reader has made room, or nobody wants the answer any more.
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
  virtual void fail_all(const TransportError& error) = 0;

  /// Exchanges that the peer surely has not looked at, and that may begin again elsewhere.
  [[nodiscard]] std::vector<std::shared_ptr<Exchange>> take_returned() {
    return std::exchange(returned_, {});
  }

 protected:
  std::vector<std::shared_ptr<Exchange>> returned_;
};

[[nodiscard]] std::unique_ptr<Session> make_http1_session(const SessionSettings& settings);
[[nodiscard]] std::unique_ptr<Session> make_http2_session(const SessionSettings& settings);

/// The request's headers as they are sent: without those that belong to the connection, and with
/// Accept-Encoding where it is wanted.
[[nodiscard]] Headers headers_to_send(const HttpRequest& request, const SessionSettings& settings);

/// Counts a header field against a limit as HTTP/2 does.
inline constexpr std::size_t kHeaderOverhead = 32;

[[nodiscard]] TransportError headers_too_large(const SessionSettings& settings);

}  // namespace kube::detail
