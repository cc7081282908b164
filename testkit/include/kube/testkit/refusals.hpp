// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kube::testkit {

/// How often a server has refused or ended something to protect itself, since its construction
/// (RQ-12, RQ-13).
struct Refusals {
  /// Connections beyond ApiServerOptions::max_connections.
  std::uint64_t connections = 0;
  /// Requests with a head that did not arrive in time.
  std::uint64_t slow_heads = 0;
  /// Requests with a body that did not arrive in time.
  std::uint64_t slow_bodies = 0;
  /// Connections closed because the peer did not read in time.
  std::uint64_t slow_readers = 0;
  /// Connections closed because they had no request for too long.
  std::uint64_t idle_connections = 0;
  /// Requests with too many or too long headers.
  std::uint64_t large_heads = 0;
  /// Requests with too large a body.
  std::uint64_t large_bodies = 0;
  /// HTTP/2 connections that opened and reset streams too fast.
  std::uint64_t stream_resets = 0;
};

}  // namespace kube::testkit
