// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/session.hpp"

#include <memory>
#include <optional>

namespace kube::testkit::detail {

/// Creates an HTTP/1.1 session with keep-alive. It serves one exchange at a time; pipelined
/// requests wait.
[[nodiscard]] std::unique_ptr<Session> make_http1_session(
    SessionHost& host, std::optional<PeerCertificate> certificate);

}  // namespace kube::testkit::detail
