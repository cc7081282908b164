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

/// Returns the last OpenSSL error of this thread, which is that of TLS itself, or empty; clears the
/// error queue.
[[nodiscard]] std::string take_tls_reason();

}  // namespace kube::detail
