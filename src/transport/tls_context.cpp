// SPDX-License-Identifier: Apache-2.0
#include "tls_context.hpp"

#include "config/pem.hpp"
#include <kube/transport/error.hpp>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

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

constexpr std::string_view kHttp2AndHttp1{"\x02h2\x08http/1.1"};
constexpr std::string_view kHttp1{"\x08http/1.1"};

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void* argument) {
  const auto& ours = *static_cast<const std::string_view*>(argument);
  unsigned char* chosen = nullptr;
  const int result =
      SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned>(ours.size()), offered, offered_size);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/// Accepts every certificate; the connection keeps the result (SSL_get_verify_result).
int accept_any(int /*verified*/, X509_STORE_CTX* /*context*/) { return 1; }

/// Makes OpenSSL parse the certificate's extensions now. It would do so lazily, on several threads.
void read_extensions(SSL_CTX* context) {
  const auto read = [](X509* certificate) {
    if (certificate != nullptr) X509_check_purpose(certificate, -1, 0);
  };
  read(SSL_CTX_get0_certificate(context));
  const auto* trusted = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
  for (int i = 0; i < sk_X509_OBJECT_num(trusted); ++i) {
    read(X509_OBJECT_get0_X509(sk_X509_OBJECT_value(trusted, i)));
  }
}

[[noreturn]] void refuse(std::string_view place, std::string_view what) {
  throw TransportError(TransportError::Kind::kTls,
                       fmt::format("{}: {} ({})", place, what, take_tls_reason()));
}

/// A context with what both sides have in common.
std::shared_ptr<SSL_CTX> make_context(const SSL_METHOD* method, std::string_view place) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context{SSL_CTX_new(method), SSL_CTX_free};
  if (context == nullptr) {
    refuse(place, "TLS cannot be used at all; check the installation of OpenSSL");
  }
  SSL_CTX* const tls = context.get();
  SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
  SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(tls, 1);  // fewer system calls: the reader always drains it
  return context;
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
  std::shared_ptr<SSL_CTX> context = make_context(TLS_client_method(), place);
  SSL_CTX* const tls = context.get();
  SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(tls, SSL_OP_NO_TICKET);
  SSL_CTX_set_verify(tls, material.insecure_skip_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  // As in Go, every certificate of the bundle is trusted, even if it is not a root.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(tls), X509_V_FLAG_PARTIAL_CHAIN);
  if (!material.has_ca) {
    SSL_CTX_set_default_verify_paths(tls);
  } else if (!material.ca.empty() && !trust(tls, material.ca)) {
    refuse(place, "certificate-authority cannot be used: it has to be PEM");
  }
  if (!material.certificate.empty() && !show(tls, material)) {
    refuse(place,
           "the client certificate or its key cannot be used: both must be PEM and match, "
           "and the key must have no password");
  }
  ERR_clear_error();
  return context;
}

std::shared_ptr<SSL_CTX> make_server_tls_context(const TlsMaterial& material,
                                                 std::string_view place, bool http2) {
  std::shared_ptr<SSL_CTX> context = make_context(TLS_server_method(), place);
  SSL_CTX* const tls = context.get();
  if (!show(tls, material)) {
    refuse(place,
           "the certificate or its key cannot be used: both must be PEM and match, and the key "
           "must have no password");
  }
  if (!material.ca.empty()) {
    X509_STORE_set_flags(SSL_CTX_get_cert_store(tls), X509_V_FLAG_PARTIAL_CHAIN);
    if (!trust(tls, material.ca)) {
      refuse(place, "the CA for clients cannot be used: it has to be PEM");
    }
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, &accept_any);
  }
  read_extensions(tls);
  SSL_CTX_set_session_id_context(tls, reinterpret_cast<const unsigned char*>("kubecxx"), 7);
  SSL_CTX_set_alpn_select_cb(tls, &choose_protocol,
                             const_cast<std::string_view*>(http2 ? &kHttp2AndHttp1 : &kHttp1));
  ERR_clear_error();
  return context;
}

}  // namespace kube::detail
