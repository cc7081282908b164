// SPDX-License-Identifier: Apache-2.0
#include "certificate.hpp"

#include "config/pem.hpp"
#include "transport/tls_context.hpp"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <utility>

namespace kube::server {
namespace {

std::vector<std::string> subject_entries(X509* certificate, int nid) {
  std::vector<std::string> entries;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return entries;
}

}  // namespace

Certificate::Certificate(TlsConfig config, bool http2, Clock& clock, Logger log)
    : http2_(http2), log_(log), source_(std::move(config), clock, std::move(log), "server") {
  use(source_.current());
}

std::shared_ptr<SSL_CTX> Certificate::context() const {
  const std::lock_guard guard{mutex_};
  return context_;
}

void Certificate::use(const detail::TlsSource::Current& current) {
  {
    const std::lock_guard guard{mutex_};
    if (material_ == current.material) return;
  }
  auto context = detail::make_server_tls_context(*current.material, "server", http2_);
  const std::lock_guard guard{mutex_};
  material_ = current.material;
  context_ = std::move(context);
}

void Certificate::reload() {
  if (!has_files()) return;
  try {
    use(source_.current());
  } catch (const std::exception& error) {
    log_.warning("the older server certificate stays in use: {}", error.what());
  }
}

void Certificate::replace(std::string certificate, SecretText key) {
  detail::check_pair(certificate, key, "server certificate");
  use(source_.current([&] {
    return detail::TlsSource::Pair{std::move(certificate), std::move(key)};
  }));
}

std::optional<PeerCertificate> peer_certificate(const SSL& ssl) {
  X509* certificate = SSL_get0_peer_certificate(&ssl);
  if (certificate == nullptr) return std::nullopt;
  PeerCertificate peer;
  if (SSL_get_verify_result(&ssl) != X509_V_OK) return peer;
  const std::vector<std::string> names = subject_entries(certificate, NID_commonName);
  if (!names.empty()) peer.common_name = names.front();
  peer.organizations = subject_entries(certificate, NID_organizationName);
  return peer;
}

}  // namespace kube::server
