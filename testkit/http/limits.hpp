// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/testkit/refusals.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

/// Limits that protect the server's sockets from a single client, and counters of refusals.
namespace kube::testkit::detail {

/// The maximum size of a request body, and of all its headers, in bytes (RQ-7).
inline constexpr std::size_t kBodyLimit = 3145728;
inline constexpr std::size_t kHeaderLimit = 1048576;
/// The maximum number of headers (RQ-12): more than any client needs, and small enough for linear
/// search.
inline constexpr std::size_t kHeaderCount = 1000;

/// Time limits of a connection, in real time, because they protect sockets. All are measured from
/// the start of the operation, so that a trickle of bytes does not extend them (RQ-12).
struct ConnectionLimits {
  /// For the TLS handshake, and for the head of a request from its first byte.
  std::chrono::milliseconds head_timeout = std::chrono::seconds{32};
  /// For the body of a request, from the end of its head.
  std::chrono::milliseconds body_timeout = std::chrono::seconds{60};
  /// For a connection without a request (RQ-9). Frames that belong to no request do not count.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds{90};
  /// For a peer to read the data of one write.
  std::chrono::milliseconds write_timeout = std::chrono::minutes{5};
  bool http2 = true;

  /// How often a connection checks its limits: a violation is detected at most a quarter of the
  /// shortest limit late.
  [[nodiscard]] std::chrono::milliseconds check_period() const {
    const auto shortest = std::min({head_timeout, body_timeout, idle_timeout, write_timeout});
    return std::max(shortest / 4, std::chrono::milliseconds{1});
  }
};

/// Counters of refusals. Thread safety: all members, from any thread.
struct FrontCounters {
  using Count = std::atomic<std::uint64_t>;
  Count connections{0};
  Count slow_heads{0};
  Count slow_bodies{0};
  Count slow_readers{0};
  Count idle_connections{0};
  Count large_heads{0};
  Count large_bodies{0};
  Count stream_resets{0};
  /// The number of times that connections have checked their limits.
  Count timeout_checks{0};

  [[nodiscard]] Refusals snapshot() const {
    return {connections,      slow_heads,  slow_bodies,  slow_readers,
            idle_connections, large_heads, large_bodies, stream_resets};
  }
};

}  // namespace kube::testkit::detail
