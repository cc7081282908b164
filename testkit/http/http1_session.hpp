// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/session.hpp"

#include <memory>
#include <optional>

namespace kube::testkit::detail {

/// HTTP/1.1 with keep-alive: one exchange at a time, in the order of the requests; what the peer sends
/// ahead waits.
[[nodiscard]] std::unique_ptr<Session> make_http1_session(
    SessionHost& host, std::optional<PeerCertificate> certificate);

}  // namespace kube::testkit::detail
