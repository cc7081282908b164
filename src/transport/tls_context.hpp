// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/credentials.hpp>

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

/// What all TLS connections with the same material share: trust, certificate and key. TLS 1.2 and later, no
/// resumption: a resumed session is not verified again.
///
/// Throws TransportError (kTls) that begins with `place` if the material is of no use.
[[nodiscard]] std::shared_ptr<SSL_CTX> make_tls_context(const TlsMaterial& material,
                                                        std::string_view place);

/// The last reason that OpenSSL gives in this thread, which is that of TLS itself, or empty; forgets all of them.
[[nodiscard]] std::string take_tls_reason();

}  // namespace kube::detail
