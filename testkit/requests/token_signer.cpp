// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/token_signer.hpp"

#include "testkit/http/openssl.hpp"

#include <kube/base/error.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>

#include "testkit/requests/base64url.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {
namespace {

using Context = std::unique_ptr<EVP_MD_CTX, OpenSslDeleter<EVP_MD_CTX_free>>;
using Signature = std::unique_ptr<ECDSA_SIG, OpenSslDeleter<ECDSA_SIG_free>>;

/// The size of a coordinate of P-256, in bytes.
constexpr std::size_t kHalf = 32;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// Converts a signature from DER (OpenSSL) to two concatenated integers (JSON web token).
std::string der_to_plain(const std::string& der) {
  const unsigned char* at = bytes_of(der);
  const Signature signature{d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))};
  std::array<unsigned char, 2 * kHalf> plain{};
  check_openssl(
      signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), plain.data(), kHalf) > 0 &&
          BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), plain.data() + kHalf, kHalf) > 0,
      "write a signature");
  return {reinterpret_cast<const char*>(plain.data()), plain.size()};
}

/// Converts back. Returns an empty text if `plain` is malformed.
std::string plain_to_der(std::string_view plain) {
  const Signature signature{ECDSA_SIG_new()};
  if (plain.size() != 2 * kHalf || !signature) return {};
  BIGNUM* r = BN_bin2bn(bytes_of(plain), kHalf, nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(plain) + kHalf, kHalf, nullptr);
  if (r == nullptr || s == nullptr || ECDSA_SIG_set0(signature.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return {};
  std::string text{reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)};
  OPENSSL_free(der);
  return text;
}

}  // namespace

struct TokenSigner::Key {
  std::unique_ptr<EVP_PKEY, OpenSslDeleter<EVP_PKEY_free>> pkey{EVP_EC_gen("P-256")};
};

TokenSigner::TokenSigner() : key_(std::make_unique<const Key>()) {
  check_openssl(key_->pkey != nullptr, "make a key");
  // An uncompressed point: 4, x, y.
  std::array<unsigned char, 1 + 2 * kHalf> point{};
  std::size_t size = 0;
  check_openssl(EVP_PKEY_get_octet_string_param(key_->pkey.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                point.data(), point.size(), &size) == 1 &&
                    size == point.size(),
                "read a public key");
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(point.data(), point.size(), digest.data());
  const auto text = [](const unsigned char* data, std::size_t count) {
    return base64url_encode({reinterpret_cast<const char*>(data), count});
  };
  key_id_ = text(digest.data(), digest.size());
  key_set_ = fmt::format(
      R"({{"keys":[{{"use":"sig","kty":"EC","kid":"{}","crv":"P-256","alg":"ES256","x":"{}","y":"{}"}}]}})",
      key_id_, text(point.data() + 1, kHalf), text(point.data() + 1 + kHalf, kHalf));
}

TokenSigner::~TokenSigner() = default;

std::string TokenSigner::sign(const Value& claims) const {
  std::string token = base64url_encode(fmt::format(R"({{"alg":"ES256","kid":"{}"}})", key_id_)) +
                      '.' + base64url_encode(json_text(claims));
  const Context context{EVP_MD_CTX_new()};
  std::size_t size = 0;
  check_openssl(
      context &&
          EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_->pkey.get()) ==
              1 &&
          EVP_DigestSign(context.get(), nullptr, &size, bytes_of(token), token.size()) == 1,
      "sign a token");
  std::string der(size, '\0');
  check_openssl(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(der.data()), &size,
                               bytes_of(token), token.size()) == 1,
                "sign a token");
  der.resize(size);
  return token + '.' + base64url_encode(der_to_plain(der));
}

Ref<Value> TokenSigner::verify(std::string_view token) const {
  const std::size_t first = token.find('.');
  const std::size_t second = token.rfind('.');
  if (first == std::string_view::npos || first == second) return nullptr;
  const std::string_view text = token.substr(0, second);
  const auto plain = base64url_decode(token.substr(second + 1));
  const std::string der = plain ? plain_to_der(*plain) : std::string{};
  if (der.empty()) return nullptr;
  const Context context{EVP_MD_CTX_new()};
  if (!context ||
      EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_->pkey.get()) != 1 ||
      EVP_DigestVerify(context.get(), bytes_of(der), der.size(), bytes_of(text), text.size()) !=
          1) {
    return nullptr;
  }
  const auto claims = base64url_decode(text.substr(first + 1));
  try {
    return claims ? parse_json(*claims) : Ref<Value>{};
  } catch (const CodecError&) {
    return nullptr;
  }
}

}  // namespace kube::testkit::detail
