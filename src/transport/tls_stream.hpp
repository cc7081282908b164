// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/error.hpp>

#include <openssl/bio.h>

#include <exception>
#include <memory>
#include <string>

#include "byte_stream.hpp"

namespace kube::detail {

/// The expected peer of a TLS connection.
struct TlsPeer {
  /// "https://10.0.0.1:6443", for messages.
  std::string place;
  /// "server" or "proxy", for messages.
  const char* role = "server";
  /// The name or address that the certificate must be valid for.
  std::string host;
  bool offer_http2 = true;
  /// If false, the client certificate of the context is not sent to this peer.
  bool show_certificate = true;
};

/// Selects the server's side of a TLS connection.
struct TlsServerSide {
  /// The client's address, for messages.
  std::string place;
};

/// TLS on top of another stream: first the handshake, then data.
class TlsStream final : public ByteStream {
 public:
  TlsStream(std::unique_ptr<ByteStream> below, SSL_CTX& context, TlsPeer peer);
  /// The server's side, with a context of make_server_tls_context().
  TlsStream(std::unique_ptr<ByteStream> below, SSL_CTX& context, TlsServerSide side);
  /// On the client's side, sends close_notify, if that is possible without blocking. A server calls
  /// finish(), unless it breaks off.
  ~TlsStream() override;

  /// Continues the handshake without blocking. Returns true when it is complete. Throws
  /// TransportError.
  [[nodiscard]] bool handshake();
  [[nodiscard]] bool negotiated_http2() const noexcept;
  /// For what this class does not know of, such as the certificate of the peer.
  [[nodiscard]] const SSL& native() const noexcept { return *ssl_; }

  [[nodiscard]] Result receive(std::span<char> buffer, std::size_t& received) override;
  [[nodiscard]] std::size_t send(std::string_view bytes) override;
  void finish() noexcept override;
  /// Applies to the handshake, too.
  [[nodiscard]] bool wants_write() const noexcept override {
    return wants_write_ || below_->wants_write();
  }
  void wait_for(short events) noexcept override { below_->wait_for(events); }
  [[nodiscard]] bool take_ready() noexcept override { return below_->take_ready(); }

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept;
  };

  static const BIO_METHOD* bio_method();
  static int on_read(BIO* bio, char* buffer, int size) noexcept;
  static int on_write(BIO* bio, const char* bytes, int size) noexcept;
  static long on_control(BIO* bio, int command, long number, void* pointer) noexcept;
  static void on_info(const SSL* ssl, int where, int value) noexcept;

  void attach();
  void expect_peer();
  /// Returns if the call must be repeated later (true: when the socket is writable), else throws.
  bool check(int result);
  [[nodiscard]] TransportError tls_error();

  const std::unique_ptr<ByteStream> below_;
  const TlsPeer peer_;
  const bool is_server_;
  const bool has_certificate_;
  std::unique_ptr<SSL, Free> ssl_;
  /// Exception thrown by the stream below inside an OpenSSL callback.
  std::exception_ptr lost_;
  bool stands_ = false;  // the handshake is complete
  bool wants_write_ = false;
  bool ended_ = false;
  bool broken_ = false;
  /// The last TLS alert of the peer, or null.
  const char* alert_ = nullptr;
};

}  // namespace kube::detail
