// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/credentials.hpp>

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// Makes the context shared by all TLS connections with the same material: trust, certificate and
/// key. TLS 1.2 or later, without resumption: a resumed session is not verified again.
///
/// Throws TransportError (kTls) that begins with `place` if the material is not usable.
[[nodiscard]] std::shared_ptr<SSL_CTX> make_tls_context(const TlsMaterial& material,
                                                        std::string_view place);

/// Makes the context of a server: its certificate and key, and as CA the one for client
/// certificates. TLS 1.2 or later; ALPN chooses HTTP/2, if `http2`, or HTTP/1.1. With a CA, clients
/// are asked for a certificate, but need not have one; an invalid one does not end the handshake:
/// see SSL_get_verify_result().
///
/// Throws TransportError (kTls) that begins with `place` if the material is not usable.
[[nodiscard]] std::shared_ptr<SSL_CTX> make_server_tls_context(const TlsMaterial& material,
                                                               std::string_view place, bool http2);

/// Returns the last OpenSSL error of this thread, which is that of TLS itself, or empty; clears the
/// error queue.
[[nodiscard]] std::string take_tls_reason();

}  // namespace kube::detail
