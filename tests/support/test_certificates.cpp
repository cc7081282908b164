// SPDX-License-Identifier: Apache-2.0
#include "support/test_certificates.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace kube::test {

namespace {

template <auto function>
struct Free {
  template <typename T>
  void operator()(T* pointer) const {
    function(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("test certificate: ") + what + " failed");
}

template <typename Write>
std::string pem(Write write) {
  const Bio bio{BIO_new(BIO_s_mem())};
  require(bio != nullptr && write(bio.get()) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  require(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1,
                                     0) == 1,
          "setting a name");
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  require(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1,
          "adding an extension");
}

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

void set_time(ASN1_TIME* field, std::chrono::system_clock::time_point time) {
  require(ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(time)) != nullptr,
          "setting a time");
}

Certificate new_certificate(const CertificateOptions& options, EVP_PKEY* key) {
  Certificate certificate{X509_new()};
  require(certificate != nullptr, "X509_new");
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint64_t serial = 0;
  require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "random");
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  set_time(X509_getm_notBefore(certificate.get()), options.not_before);
  set_time(X509_getm_notAfter(certificate.get()), options.not_after);
  require(X509_set_pubkey(certificate.get(), key) == 1, "setting the key");
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organization : options.organizations) {
    add_name(subject, "O", organization);
  }
  add_name(subject, "CN", options.common_name);
  return certificate;
}

}  // namespace

struct TestAuthority::State {
  Key key;
  Certificate certificate;
  std::string text;

  CertifiedKey issue(const CertificateOptions& options, const char* usage) const {
    const Key own{EVP_EC_gen("P-256")};
    require(own != nullptr, "making a key");
    const Certificate made = new_certificate(options, own.get());
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate.get()));
    add_extension(made.get(), certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
    add_extension(made.get(), certificate.get(), NID_ext_key_usage, usage);
    std::string names;
    for (const std::string& name : options.names) {
      if (!names.empty()) names += ',';
      names += (is_address(name) ? "IP:" : "DNS:") + name;
    }
    if (!names.empty()) {
      add_extension(made.get(), certificate.get(), NID_subject_alt_name, names);
    }
    require(X509_sign(made.get(), key.get(), EVP_sha256()) != 0, "signing");
    return {.certificate = pem([&](BIO* bio) { return PEM_write_bio_X509(bio, made.get()); }),
            .key = pem([&](BIO* bio) {
              return PEM_write_bio_PrivateKey(bio, own.get(), nullptr, nullptr, 0, nullptr,
                                              nullptr);
            })};
  }
};

TestAuthority::TestAuthority(const std::string& common_name) : state_(std::make_unique<State>()) {
  state_->key.reset(EVP_EC_gen("P-256"));
  require(state_->key != nullptr, "making a key");
  state_->certificate = new_certificate({.common_name = common_name}, state_->key.get());
  X509* own = state_->certificate.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  require(X509_sign(own, state_->key.get(), EVP_sha256()) != 0, "signing");
  state_->text = pem([&](BIO* bio) { return PEM_write_bio_X509(bio, own); });
}

TestAuthority::~TestAuthority() = default;

const std::string& TestAuthority::certificate() const noexcept { return state_->text; }

CertifiedKey TestAuthority::issue_server(const CertificateOptions& options) const {
  return state_->issue(options, "serverAuth");
}

CertifiedKey TestAuthority::issue_server() const {
  return issue_server({.common_name = "server", .names = {"localhost", "127.0.0.1"}});
}

CertifiedKey TestAuthority::issue_client(const CertificateOptions& options) const {
  return state_->issue(options, "clientAuth");
}

}  // namespace kube::test
