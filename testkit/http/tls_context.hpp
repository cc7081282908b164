// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/front.hpp"

#include <boost/asio/ssl/context.hpp>

namespace kube::testkit::detail {

/// Creates a context for TLS 1.2 and later. Client certificates are requested but optional; an
/// invalid one does not end the handshake, and is reported with the request (AU-5). Throws
/// kube::Error if certificate or key are invalid.
[[nodiscard]] boost::asio::ssl::context make_tls_context(const FrontTls& tls, bool http2);

}  // namespace kube::testkit::detail
