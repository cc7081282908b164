// SPDX-License-Identifier: Apache-2.0
#include "config/pem.hpp"

#include <kube/api/time_text.hpp>
#include <kube/config/config.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>
#include <new>

namespace kube::detail {

namespace {

/// Prevents OpenSSL from prompting for the password of an encrypted key.
int no_password(char* /*to*/, int /*size*/, int /*writes*/, void* /*data*/) { return -1; }

OpensslPtr<X509> first_certificate(const std::string& pem) {
  OpensslPtr<X509> certificate = PemReader{pem}.certificate();
  ERR_clear_error();
  return certificate;
}

}  // namespace

PemReader::PemReader(const std::string& pem)
    : bio_(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))) {
  if (!bio_) throw std::bad_alloc{};
}

OpensslPtr<X509> PemReader::certificate() {
  return OpensslPtr<X509>{PEM_read_bio_X509(bio_.get(), nullptr, no_password, nullptr)};
}

OpensslPtr<EVP_PKEY> PemReader::key() {
  return OpensslPtr<EVP_PKEY>{PEM_read_bio_PrivateKey(bio_.get(), nullptr, no_password, nullptr)};
}

void check_ca(const std::string& pem, const std::string& source) {
  if (!first_certificate(pem)) throw ConfigError(source + " has no certificate in PEM form");
}

void check_pair(const std::string& certificate, const std::string& key, const std::string& source) {
  const OpensslPtr<X509> parsed = first_certificate(certificate);
  if (!parsed) throw ConfigError(source + ": the certificate is not in PEM form");
  const OpensslPtr<EVP_PKEY> parsed_key = PemReader{key}.key();
  const bool belongs = parsed_key && X509_check_private_key(parsed.get(), parsed_key.get()) == 1;
  ERR_clear_error();
  if (!parsed_key) {
    throw ConfigError(source + ": the key is not in PEM form, or is encrypted with a password");
  }
  if (!belongs) throw ConfigError(source + ": the key does not belong to the certificate");
}

std::chrono::system_clock::time_point expiry_of(const std::string& certificate) {
  const OpensslPtr<X509> parsed = first_certificate(certificate);
  std::tm time{};
  if (!parsed || ASN1_TIME_to_tm(X509_get0_notAfter(parsed.get()), &time) != 1) {
    return std::chrono::system_clock::time_point::max();
  }
  // The expiry of certificates that never expire, in the year 9999, is out of the clock's range.
  return time_text::time_point_from_seconds(time_text::kUnixEpochSeconds + timegm(&time));
}

}  // namespace kube::detail
