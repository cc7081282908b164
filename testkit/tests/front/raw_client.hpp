// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace kube::testkit {

/// The response to one HTTP/1.1 request.
struct RawResponse {
  int status = 0;
  /// Keys are in lower case.
  std::map<std::string, std::string> headers;
  /// With chunks concatenated.
  std::string body;
  /// The body arrived completely, to its last byte or chunk.
  bool complete = false;
};

/// A socket for tests that check every byte. All waits throw std::runtime_error after ten seconds.
/// A closed or reset connection reads as the end.
class RawClient {
 public:
  /// Uses TLS if a CA (PEM) is given; certificate and key (PEM) are the client's own.
  explicit RawClient(std::uint16_t port, const std::string& ca = {},
                     const std::string& certificate = {}, const std::string& key = {},
                     std::string_view alpn = {});
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void send(std::string_view bytes);
  /// Sends a request without a body.
  void get(std::string_view target, std::string_view headers = {});
  void post(std::string_view target, std::string_view body, std::string_view headers = {});

  /// Returns the available bytes; empty at the end of the connection.
  std::string read_some();
  /// Returns everything up to and including `mark`, or up to the end of the connection.
  std::string read_until(std::string_view mark);
  std::string read_exactly(std::size_t size);
  std::string read_to_end();
  RawResponse read_response();
  /// Reads the head only; the body is left unread.
  RawResponse read_head();
  /// Returns the next chunk of a chunked body; empty at its end or at the end of the connection.
  std::string read_chunk();
  /// Returns false if nothing arrives within `time`.
  bool readable(std::chrono::milliseconds time);
  [[nodiscard]] bool was_reset() const noexcept { return reset_; }
  [[nodiscard]] std::string protocol() const;
  void close();

 private:
  struct SslDeleter {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, SslDeleter> context_;
  std::unique_ptr<SSL, SslDeleter> ssl_;
  std::string buffer_;
  bool reset_ = false;
  bool ended_ = false;
};

}  // namespace kube::testkit
