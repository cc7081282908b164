// SPDX-License-Identifier: Apache-2.0
#include "pem.hpp"

#include <kube/api/time_text.hpp>
#include <kube/config/config.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>
#include <new>

namespace kube::detail {

namespace {

struct Free {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
  void operator()(X509* certificate) const noexcept { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<BIO> reader(const std::string& pem) {
  Owned<BIO> bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  if (!bio) throw std::bad_alloc{};
  return bio;
}

/// OpenSSL would ask at the terminal for the password of an encrypted key.
int no_password(char* /*to*/, int /*size*/, int /*writes*/, void* /*data*/) { return -1; }

Owned<X509> first_certificate(const std::string& pem) {
  const Owned<BIO> bio = reader(pem);
  Owned<X509> certificate{PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)};
  ERR_clear_error();
  return certificate;
}

}  // namespace

void check_ca(const std::string& pem, const std::string& source) {
  if (!first_certificate(pem)) throw ConfigError(source + " has no certificate in PEM form");
}

void check_pair(const std::string& certificate, const std::string& key, const std::string& source) {
  const Owned<X509> parsed = first_certificate(certificate);
  if (!parsed) throw ConfigError(source + ": the certificate is not in PEM form");
  const Owned<BIO> bio = reader(key);
  const Owned<EVP_PKEY> parsed_key{
      PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr)};
  const bool belongs = parsed_key && X509_check_private_key(parsed.get(), parsed_key.get()) == 1;
  ERR_clear_error();
  if (!parsed_key) {
    throw ConfigError(source + ": the key is not in PEM form, or is encrypted with a password");
  }
  if (!belongs) throw ConfigError(source + ": the key does not belong to the certificate");
}

std::chrono::system_clock::time_point expiry_of(const std::string& certificate) {
  const Owned<X509> parsed = first_certificate(certificate);
  std::tm time{};
  if (!parsed || ASN1_TIME_to_tm(X509_get0_notAfter(parsed.get()), &time) != 1) {
    return std::chrono::system_clock::time_point::max();
  }
  // Certificates that never expire say 9999, which the clock cannot.
  return time_text::time_point_from_seconds(time_text::kUnixEpochSeconds + timegm(&time));
}

}  // namespace kube::detail
