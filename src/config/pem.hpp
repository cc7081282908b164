// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>

namespace kube::detail {

struct OpensslFree {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
template <typename T>
using OpensslPtr = std::unique_ptr<T, OpensslFree>;

/// Reads the entries of a PEM text in order. The reason of a failure is in OpenSSL's error queue.
/// An encrypted key is not read, and there is no prompt for its password.
class PemReader {
 public:
  /// `pem` must outlive it.
  explicit PemReader(const std::string& pem);

  /// Return null if there is no further one.
  [[nodiscard]] OpensslPtr<X509> certificate();
  [[nodiscard]] OpensslPtr<EVP_PKEY> key();

 private:
  OpensslPtr<BIO> bio_;
};

/// Throws ConfigError, naming `source`, unless the PEM text contains a certificate.
void check_ca(const std::string& pem, const std::string& source);
/// Throws ConfigError, naming `source`, unless both are PEM and match. The message does not quote
/// the key.
void check_pair(const std::string& certificate, const std::string& key, const std::string& source);
/// Returns when the first certificate, which has been checked, expires.
[[nodiscard]] std::chrono::system_clock::time_point expiry_of(const std::string& certificate);

}  // namespace kube::detail
