// SPDX-License-Identifier: Apache-2.0
#include "tls_context.hpp"

#include "config/pem.hpp"
#include <kube/transport/error.hpp>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace kube::detail {

namespace {

/// Returns whether reading ended at the end of the text, and not at a damaged entry.
bool at_end() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

bool trust(SSL_CTX* context, const std::string& pem) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  PemReader reader{pem};
  bool any = false;
  while (const OpensslPtr<X509> certificate = reader.certificate()) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1) return false;
    any = true;
  }
  return any && at_end();
}

bool show(SSL_CTX* context, const TlsMaterial& material) {
  PemReader reader{material.certificate};
  const OpensslPtr<X509> own = reader.certificate();
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) return false;
  while (const OpensslPtr<X509> issuer = reader.certificate()) {
    if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) return false;
  }
  if (!at_end()) return false;
  ERR_clear_error();
  const OpensslPtr<EVP_PKEY> key = PemReader{material.key}.key();
  return key && SSL_CTX_use_PrivateKey(context, key.get()) == 1 &&
         SSL_CTX_check_private_key(context) == 1;
}

}  // namespace

std::string take_tls_reason() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (error == 0) return {};
  const char* text = ERR_reason_error_string(error);
  return text != nullptr ? text : fmt::format("OpenSSL error {:#x}", error);
}

std::shared_ptr<SSL_CTX> make_tls_context(const TlsMaterial& material, std::string_view place) {
  const auto refuse = [place](std::string_view what) {
    throw TransportError(TransportError::Kind::kTls,
                         fmt::format("{}: {} ({})", place, what, take_tls_reason()));
  };
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  if (context == nullptr) refuse("TLS cannot be used at all; check the installation of OpenSSL");
  SSL_CTX* const tls = context.get();
  SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(tls, 1);  // fewer system calls: the reader always drains it
  SSL_CTX_set_verify(tls, material.insecure_skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  // As in Go, every certificate of the bundle is trusted, even if it is not a root.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(tls), X509_V_FLAG_PARTIAL_CHAIN);
  if (!material.has_ca) {
    SSL_CTX_set_default_verify_paths(tls);
  } else if (!material.ca.empty() && !trust(tls, material.ca)) {
    refuse("certificate-authority cannot be used: it has to be PEM");
  }
  if (!material.certificate.empty() && !show(tls, material)) {
    refuse(
        "the client certificate or its key cannot be used: both must be PEM and match, "
        "and the key must have no password");
  }
  ERR_clear_error();
  return context;
}

}  // namespace kube::detail
