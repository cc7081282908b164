// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <string_view>

#include "dial.hpp"

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

const char* verification_advice(long result) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired; renew it, or check this machine's clock";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid yet; check this machine's clock";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the server's certificate is signed by an unknown authority; is "
             "certificate-authority of the right cluster?";
    case X509_V_ERR_CERT_REVOKED:
      return "the server's certificate is revoked";
    case X509_V_ERR_INVALID_PURPOSE:
      return "the server's certificate is not one for servers";
    default:
      return nullptr;
  }
}

std::string tls_advice(const DialFailure& failure) {
  const std::string_view detail = failure.detail;
  if (const char* advice = verification_advice(failure.verify_result)) return advice;
  if (has(detail, "does not match") || has(detail, "matches target host name")) {
    return "the server's certificate is for another host; use a name that is in it, or "
           "tls-server-name";
  }
  if (has(detail, "wrong version number") || has(detail, "http request") ||
      has(detail, "packet length too long") || has(detail, "record layer failure")) {
    return "what answers there does not speak TLS; is it http, or another port?";
  }
  if (has(detail, "certificate required") ||
      (has(detail, "handshake failure") && !failure.has_certificate)) {
    return "the server asks for a client certificate; configure client-certificate and client-key";
  }
  if (has(detail, "alert")) {
    return failure.has_certificate
               ? "the server refuses the handshake; is the client certificate expired, or of "
                 "another cluster?"
               : "the server refuses the handshake";
  }
  switch (failure.code) {
    case CURLE_SSL_CERTPROBLEM:
      return "the client certificate or its key cannot be used: both have to be PEM, the key "
             "without password, and of each other";
    case CURLE_SSL_CACERT_BADFILE:
      return "certificate-authority cannot be used: it has to be PEM";
    default:
      return "the TLS handshake failed";
  }
}

}  // namespace

TransportError describe(const Origin& origin, const DialFailure& failure) {
  const auto make = [&](Kind kind, std::string_view advice) {
    return TransportError(kind, fmt::format("{}: {} ({})", origin.name, advice, failure.detail));
  };
  const bool proxied = !origin.proxy.empty();
  switch (failure.code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return make(Kind::kResolve, "the host was not found; check the address and the name service");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return make(Kind::kProxy, "the proxy's host was not found; check proxy-url or HTTPS_PROXY");
    case CURLE_PROXY:
      return make(Kind::kProxy, "the proxy refuses; check proxy-url or HTTPS_PROXY");
    case CURLE_COULDNT_CONNECT:
      if (proxied) {
        return make(Kind::kProxy,
                    "the proxy cannot be reached, or cannot reach the server; check proxy-url or "
                    "HTTPS_PROXY");
      }
      return make(Kind::kConnect,
                  "nobody accepts connections there; does the server run, is the address right?");
    case CURLE_OPERATION_TIMEDOUT:
      return make(Kind::kConnect, "nobody answers; check address, routes and firewalls");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
      // A peer that goes away in the handshake has not said a word about trust.
      if (has(failure.detail, "SSL_ERROR_SYSCALL") || has(failure.detail, "unexpected eof")) {
        return make(Kind::kConnectionLost, "the connection was closed during the TLS handshake");
      }
      return make(Kind::kTls, tls_advice(failure));
    default:
      break;
  }
  if (failure.connect_status != 0 && failure.connect_status / 100 != 2) {
    return make(Kind::kProxy, failure.connect_status == 407
                                  ? "the proxy wants a user and a password"
                                  : "the proxy refuses to connect; check proxy-url or NO_PROXY");
  }
  if (proxied) return make(Kind::kProxy, "no connection through the proxy");
  return make(Kind::kConnect, "no connection");
}

}  // namespace kube::detail
