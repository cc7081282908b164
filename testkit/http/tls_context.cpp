// SPDX-License-Identifier: Apache-2.0
#include "testkit/http/tls_context.hpp"

#include <kube/base/error.hpp>

#include <boost/asio/buffer.hpp>

#include <fmt/format.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string_view>

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kProtocols{"\x02h2\x08http/1.1"};
constexpr std::string_view kOnlyHttp1{"\x08http/1.1"};

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

}  // namespace

boost::asio::ssl::context make_tls_context(const FrontTls& tls, bool http2) {
  using boost::asio::ssl::context;
  context made{context::tls_server};
  made.set_options(context::default_workarounds | context::no_sslv2 | context::no_sslv3 |
                   context::no_tlsv1 | context::no_tlsv1_1);
  try {
    made.use_certificate_chain(boost::asio::buffer(tls.certificate));
    made.use_private_key(boost::asio::buffer(tls.key), context::pem);
    if (!tls.client_ca.empty()) {
      made.add_certificate_authority(boost::asio::buffer(tls.client_ca));
    }
  } catch (const boost::system::system_error& error) {
    throw Error(fmt::format("certificate of the API server: {}", error.what()));
  }
  SSL_CTX* native = made.native_handle();
  if (!tls.client_ca.empty()) SSL_CTX_set_verify(native, SSL_VERIFY_PEER, &accept_any);
  read_extensions(native);
  SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>("kubecxx"), 7);
  SSL_CTX_set_alpn_select_cb(native, &choose_protocol,
                             const_cast<std::string_view*>(http2 ? &kProtocols : &kOnlyHttp1));
  return made;
}

}  // namespace kube::testkit::detail
