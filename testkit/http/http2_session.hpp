// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/session.hpp"

#include <memory>
#include <optional>

namespace kube::testkit::detail {

/// Creates an HTTP/2 session with the settings of RQ-9. Each stream has its own flow control, so a
/// slow reader of one watch does not delay the others.
[[nodiscard]] std::unique_ptr<Session> make_http2_session(
    SessionHost& host, std::optional<PeerCertificate> certificate);

}  // namespace kube::testkit::detail
