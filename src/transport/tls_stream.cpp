// SPDX-License-Identifier: Apache-2.0
#include "tls_stream.hpp"

#include "base/ip_address.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <stdexcept>

#include "dial_error.hpp"
#include "tls_context.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

void require(bool ok) {
  if (!ok) throw std::bad_alloc{};
}

}  // namespace

void TlsStream::Free::operator()(SSL* ssl) const noexcept { SSL_free(ssl); }

TlsStream::TlsStream(std::unique_ptr<ByteStream> below, SSL_CTX& context, TlsPeer peer)
    : below_(std::move(below)),
      peer_(std::move(peer)),
      is_server_(false),
      has_certificate_(peer_.show_certificate && SSL_CTX_get0_certificate(&context) != nullptr),
      ssl_(SSL_new(&context)) {
  attach();
  SSL* const ssl = ssl_.get();
  if (!peer_.show_certificate) SSL_certs_clear(ssl);
  static constexpr std::string_view kBoth{"\x02h2\x08http/1.1"};
  static constexpr std::string_view kHttp1{"\x08http/1.1"};
  const std::string_view offer = peer_.offer_http2 ? kBoth : kHttp1;
  require(SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(offer.data()),
                              static_cast<unsigned>(offer.size())) == 0);
  expect_peer();
  SSL_set_connect_state(ssl);
}

TlsStream::TlsStream(std::unique_ptr<ByteStream> below, SSL_CTX& context, TlsServerSide side)
    : below_(std::move(below)),
      peer_{.place = std::move(side.place), .role = "client", .host = {}},
      is_server_(true),
      has_certificate_(true),
      ssl_(SSL_new(&context)) {
  attach();
  SSL_set_accept_state(ssl_.get());
}

/// Connects OpenSSL with the stream below.
void TlsStream::attach() {
  require(ssl_ != nullptr);
  BIO* bio = BIO_new(bio_method());
  require(bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  SSL_set_info_callback(ssl_.get(), on_info);
}

TlsStream::~TlsStream() {
  if (broken_ || !stands_ || is_server_) return;
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

void TlsStream::finish() noexcept {
  if (stands_ && !broken_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  below_->finish();
}

/// Sets the SNI name, and the name or address that the certificate must contain.
void TlsStream::expect_peer() {
  X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl_.get());
  if (const auto address = parse_ip_address(peer_.host)) {
    const auto bytes = address->own_bytes();
    require(X509_VERIFY_PARAM_set1_ip(verify, bytes.data(), bytes.size()) == 1);
    return;
  }
  std::string name = peer_.host;
  if (name.ends_with('.')) name.pop_back();
  // As in Go, a name in the subject only does not count.
  X509_VERIFY_PARAM_set_hostflags(
      verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (X509_VERIFY_PARAM_set1_host(verify, name.data(), name.size()) != 1 ||
      SSL_set_tlsext_host_name(ssl_.get(), name.c_str()) != 1) {
    ERR_clear_error();
    throw TransportError(Kind::kTls,
                         fmt::format("{}: the {}'s name cannot be used with TLS; check the "
                                     "address and tls-server-name",
                                     peer_.place, peer_.role));
  }
}

bool TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  stands_ = result == 1;
  wants_write_ = !stands_ && check(result);
  return stands_;
}

bool TlsStream::negotiated_http2() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string_view{reinterpret_cast<const char*>(name), size} == "h2";
}

ByteStream::Result TlsStream::receive(std::span<char> buffer, std::size_t& received) {
  received = 0;
  wants_write_ = false;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &received);
  if (result == 1) return Result::kBytes;
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_ZERO_RETURN) return Result::kEnd;
  wants_write_ = check(result);
  return Result::kAgain;
}

std::size_t TlsStream::send(std::string_view bytes) {
  std::size_t sent = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
  if (result != 1) (void)check(result);
  return sent;
}

bool TlsStream::check(int result) {
  const int reason = SSL_get_error(ssl_.get(), result);
  if (lost_ == nullptr && reason == SSL_ERROR_WANT_READ) return false;
  if (lost_ == nullptr && reason == SSL_ERROR_WANT_WRITE) return true;
  broken_ = true;
  // With TLS 1.3, the server reports a problem with our certificate only after the handshake.
  if (alert_ != nullptr) throw tls_error();
  if (lost_ != nullptr) {
    ERR_clear_error();
    try {
      std::rethrow_exception(std::exchange(lost_, nullptr));
    } catch (const TransportError& error) {
      if (stands_) throw;
      throw TransportError(error.kind(), std::string{error.what()} + " (in the TLS handshake)");
    }
  }
  if (ended_) {
    ERR_clear_error();
    // Without close_notify, the data may have been truncated by an attacker.
    throw TransportError(
        Kind::kConnectionLost,
        fmt::format("{}: the connection was closed {}", peer_.place,
                    stands_ ? "without a TLS close_notify"
                            : "during the TLS handshake; does that port speak TLS?"));
  }
  throw tls_error();
}

TransportError TlsStream::tls_error() {
  const std::string reason = take_tls_reason();
  if (is_server_) {
    return {Kind::kTls, fmt::format("{}: TLS with this client has failed: {}", peer_.place,
                                    alert_ != nullptr ? alert_ : reason)};
  }
  return tls_failed({.place = peer_.place,
                     .role = peer_.role,
                     .verify_result = SSL_get_verify_result(ssl_.get()),
                     .alert = alert_,
                     .reason = reason,
                     .has_certificate = has_certificate_});
}

void TlsStream::on_info(const SSL* ssl, int where, int value) noexcept {
  constexpr int kCloseNotify = 0;
  constexpr int kCertificateRequired = 116;
  const int code = value & 0xff;
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT || code == kCloseNotify) return;
  static_cast<TlsStream*>(SSL_get_app_data(ssl))->alert_ =
      code == kCertificateRequired ? "certificate required" : SSL_alert_desc_string_long(value);
}

const BIO_METHOD* TlsStream::bio_method() {
  static const std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> kMethod = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream below TLS");
    require(made != nullptr);
    BIO_meth_set_read(made, on_read);
    BIO_meth_set_write(made, on_write);
    BIO_meth_set_ctrl(made, on_control);
    return std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)>{made, BIO_meth_free};
  }();
  return kMethod.get();
}

int TlsStream::on_read(BIO* bio, char* buffer, int size) noexcept {
  auto* self = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  try {
    std::size_t received = 0;
    switch (self->below_->receive({buffer, static_cast<std::size_t>(size)}, received)) {
      case Result::kBytes:
      case Result::kAllBytes:
        return static_cast<int>(received);
      case Result::kAgain:
        BIO_set_retry_read(bio);
        return -1;
      case Result::kEnd:
        self->ended_ = true;
        return 0;
    }
  } catch (...) {
    self->lost_ = std::current_exception();
  }
  return -1;
}

int TlsStream::on_write(BIO* bio, const char* bytes, int size) noexcept {
  auto* self = static_cast<TlsStream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  try {
    const std::size_t sent = self->below_->send({bytes, static_cast<std::size_t>(size)});
    if (sent > 0) return static_cast<int>(sent);
    BIO_set_retry_write(bio);
  } catch (...) {
    self->lost_ = std::current_exception();
  }
  return -1;
}

long TlsStream::on_control(BIO* bio, int command, long, void*) noexcept {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return static_cast<TlsStream*>(BIO_get_data(bio))->ended_ ? 1 : 0;
  return 0;
}

}  // namespace kube::detail
