// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/tls_authority.hpp"

#include "testkit/http/openssl.hpp"

#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>

namespace kube::testkit::detail {
namespace {

using Key = std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpenSslDeleter<X509_free>>;
using BioPtr = std::unique_ptr<BIO, OpenSslDeleter<BIO_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpenSslDeleter<X509_EXTENSION_free>>;

constexpr long kHour = 3600;
constexpr long kYears = 10L * 365 * 24 * kHour;

Key make_key() {
  Key key{EVP_EC_gen("P-256")};
  check_openssl(key != nullptr, "make a key");
  return key;
}

std::string read_out(const BioPtr& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem(X509* certificate) {
  const BioPtr bio{BIO_new(BIO_s_mem())};
  check_openssl(bio && PEM_write_bio_X509(bio.get(), certificate) == 1, "write a certificate");
  return read_out(bio);
}

std::string pem(EVP_PKEY* key) {
  const BioPtr bio{BIO_new(BIO_s_mem())};
  check_openssl(
      bio && PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
      "write a key");
  return read_out(bio);
}

void add_name(X509* certificate, int nid, std::string_view text) {
  check_openssl(X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), nid, MBSTRING_UTF8,
                                           reinterpret_cast<const unsigned char*>(text.data()),
                                           static_cast<int>(text.size()), -1, 0) == 1,
                "set the subject of a certificate");
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension{X509V3_EXT_conf_nid(nullptr, &context, nid, text.c_str())};
  check_openssl(extension && X509_add_ext(certificate, extension.get(), -1) == 1,
                "set an extension of a certificate");
}

X509Ptr blank(EVP_PKEY* key) {
  X509Ptr certificate{X509_new()};
  check_openssl(certificate != nullptr, "make a certificate");
  const std::unique_ptr<BIGNUM, OpenSslDeleter<BN_free>> serial{BN_new()};
  check_openssl(
      serial && BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
          BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) != nullptr &&
          X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
          X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour) != nullptr &&
          X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kYears) != nullptr &&
          X509_set_pubkey(certificate.get(), key) == 1,
      "fill in a certificate");
  return certificate;
}

}  // namespace

struct TlsAuthority::Material {
  Key key = make_key();
  X509Ptr certificate = blank(key.get());

  Certificate sign(X509* issued, EVP_PKEY* issued_key) const {
    check_openssl(X509_set_issuer_name(issued, X509_get_subject_name(certificate.get())) == 1 &&
                      X509_sign(issued, key.get(), EVP_sha256()) > 0,
                  "sign a certificate");
    return {pem(issued), pem(issued_key)};
  }
};

TlsAuthority::TlsAuthority() : material_(std::make_unique<Material>()) {
  X509* ca = material_->certificate.get();
  add_name(ca, NID_commonName, "kubecxx-ca");
  add_extension(ca, ca, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(ca, ca, NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature");
  add_extension(ca, ca, NID_subject_key_identifier, "hash");
  ca_pem_ = material_->sign(ca, material_->key.get()).certificate;
}

TlsAuthority::~TlsAuthority() = default;

Certificate TlsAuthority::issue_server(std::string_view address) const {
  const Key key = make_key();
  const X509Ptr issued = blank(key.get());
  X509* ca = material_->certificate.get();
  add_name(issued.get(), NID_commonName, "kube-apiserver");
  std::string names =
      "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,"
      "IP:127.0.0.1,IP:::1";
  if (address != "127.0.0.1" && address != "::1") names += fmt::format(",IP:{}", address);
  add_extension(issued.get(), ca, NID_subject_alt_name, names);
  add_extension(issued.get(), ca, NID_ext_key_usage, "serverAuth");
  add_extension(issued.get(), ca, NID_authority_key_identifier, "keyid");
  return material_->sign(issued.get(), key.get());
}

Certificate TlsAuthority::issue_client(std::string_view user,
                                       const std::vector<std::string>& groups) const {
  const Key key = make_key();
  const X509Ptr issued = blank(key.get());
  for (const std::string& group : groups) add_name(issued.get(), NID_organizationName, group);
  add_name(issued.get(), NID_commonName, user);
  add_extension(issued.get(), material_->certificate.get(), NID_ext_key_usage, "clientAuth");
  add_extension(issued.get(), material_->certificate.get(), NID_authority_key_identifier, "keyid");
  return material_->sign(issued.get(), key.get());
}

}  // namespace kube::testkit::detail
