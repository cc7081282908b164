// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/session.hpp"

#include <memory>
#include <optional>

namespace kube::testkit::detail {

/// HTTP/2, with the settings of RQ-9. Each stream sends as its own window allows, so that a slow reader of one
/// watch does not hold up the others.
[[nodiscard]] std::unique_ptr<Session> make_http2_session(
    SessionHost& host, std::optional<PeerCertificate> certificate);

}  // namespace kube::testkit::detail
