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

/// Reads what stands in a PEM text, one after the other. Why something could not be read is in OpenSSL's queue of
/// errors. A key with a password is not read; nobody is asked for it.
class PemReader {
 public:
  /// `pem` must outlive it.
  explicit PemReader(const std::string& pem);

  /// Null if there is no further one.
  [[nodiscard]] OpensslPtr<X509> certificate();
  [[nodiscard]] OpensslPtr<EVP_PKEY> key();

 private:
  OpensslPtr<BIO> bio_;
};

/// Throws ConfigError, naming `source`, unless there is a certificate in the PEM text.
void check_ca(const std::string& pem, const std::string& source);
/// Throws ConfigError, naming `source`, unless both are PEM and belong together. The message has nothing of
/// the key.
void check_pair(const std::string& certificate, const std::string& key, const std::string& source);
/// When the first certificate, which has been checked, expires.
[[nodiscard]] std::chrono::system_clock::time_point expiry_of(const std::string& certificate);

}  // namespace kube::detail
