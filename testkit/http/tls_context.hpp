// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/front.hpp"

#include <boost/asio/ssl/context.hpp>

namespace kube::testkit::detail {

/// TLS 1.2 and later. Certificates of clients are asked for but not insisted on: whether one could be verified
/// is told to whoever answers the request (AU-5). Throws kube::Error if the material is of no use.
[[nodiscard]] boost::asio::ssl::context make_tls_context(const FrontTls& tls, bool http2);

}  // namespace kube::testkit::detail
