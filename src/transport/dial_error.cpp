// SPDX-License-Identifier: Apache-2.0
#include "dial_error.hpp"

#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <cerrno>

namespace kube::detail {

namespace {

using Kind = TransportError::Kind;

TransportError make(Kind kind, std::string_view place, std::string_view advice,
                    std::string_view detail) {
  return {kind, fmt::format("{}: {} ({})", place, advice, detail)};
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string verification_advice(const TlsFailure& failure) {
  const auto certificate = [&](std::string_view what) {
    return fmt::format("the {}'s certificate {}", failure.role, what);
  };
  switch (failure.verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return certificate("has expired; renew it, or check this machine's clock");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return certificate("is not valid yet; check this machine's clock");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return certificate(
          "is for another host; use a name or address that is in it, or tls-server-name");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return certificate(
          "is signed by an unknown authority; is certificate-authority of the right cluster?");
    case X509_V_ERR_CERT_REVOKED:
      return certificate("is revoked");
    case X509_V_ERR_INVALID_PURPOSE:
      return certificate("is not a server certificate");
    default:
      return certificate("cannot be trusted");
  }
}

}  // namespace

TransportError lookup_failed(const Origin& origin, std::string_view detail) {
  if (origin.proxy) {
    return make(Kind::kProxy, origin.name,
                "the proxy's host was not found; check proxy-url or HTTPS_PROXY",
                fmt::format("{}: {}", origin.proxy->host, detail));
  }
  return make(Kind::kResolve, origin.name,
              "the host was not found; check the address and the name service",
              fmt::format("{}: {}", origin.server.host, detail));
}

TransportError connect_failed(const Origin& origin, int code, std::string_view detail) {
  if (origin.proxy) {
    return make(Kind::kProxy, origin.name,
                "the proxy cannot be reached; check proxy-url or HTTPS_PROXY", detail);
  }
  const auto advice = [code] {
    switch (code) {
      case ECONNREFUSED:
        return "the connection was refused; does the server run, is the address right?";
      case ETIMEDOUT:
        return "the host does not respond; check address, routes and firewalls";
      case ENETUNREACH:
      case EHOSTUNREACH:
        return "the address is unreachable; check address, routes and firewalls";
      case EMFILE:
      case ENFILE:
        return "no connection: too many files are open; close some, or raise the limit";
      default:
        return "no connection";
    }
  };
  return make(Kind::kConnect, origin.name, advice(), detail);
}

TransportError proxy_refused(const Origin& origin, std::string_view advice,
                             std::string_view detail) {
  return make(Kind::kProxy, origin.name, advice, detail);
}

TransportError tls_failed(const TlsFailure& failure) {
  const auto fail = [&](std::string_view advice, std::string_view detail) {
    return make(Kind::kTls, failure.place, advice, detail);
  };
  const std::string_view reason = failure.reason;
  if (has(reason, "certificate verify failed")) {
    return fail(verification_advice(failure), X509_verify_cert_error_string(failure.verify_result));
  }
  if (failure.alert != nullptr) {
    const std::string_view alert = failure.alert;
    const std::string detail = fmt::format("TLS alert: {}", alert);
    if (alert == "certificate required" ||
        (alert == "handshake failure" && !failure.has_certificate)) {
      return fail(fmt::format("the {} asks for a client certificate; configure client-certificate "
                              "and client-key",
                              failure.role),
                  detail);
    }
    return fail(fmt::format("the {} refuses the handshake{}", failure.role,
                            failure.has_certificate ? "; is the client certificate expired, or of "
                                                      "another cluster?"
                                                    : ""),
                detail);
  }
  if (has(reason, "wrong version number") || has(reason, "http request") ||
      has(reason, "packet length too long") || has(reason, "record layer failure")) {
    return fail("the peer does not speak TLS; is it http, or another port?", reason);
  }
  return fail("the TLS handshake failed", reason);
}

}  // namespace kube::detail
