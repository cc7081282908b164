// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/testkit/refusals.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

/// What one client may take of the server's sockets, and how often that was too much.
namespace kube::testkit::detail {

/// RQ-7.
inline constexpr std::size_t kBodyLimit = 3145728;
inline constexpr std::size_t kHeaderLimit = 1048576;
/// RQ-12. More than any client needs, and few enough to be looked through for each one that is wanted.
inline constexpr std::size_t kHeaderCount = 1000;

/// How long a connection may take for what, in real time: these guard sockets, not what the server says. All are
/// counted from the beginning, so that a byte now and then does not help (RQ-12).
struct ConnectionLimits {
  /// For the TLS handshake, and for the head of a request from its first byte on.
  std::chrono::milliseconds head_timeout = std::chrono::seconds{32};
  /// For the body of a request, from the end of its head on.
  std::chrono::milliseconds body_timeout = std::chrono::seconds{60};
  /// Without a request (RQ-9). Frames that belong to none do not count.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds{90};
  /// For a peer to take what one write has for it.
  std::chrono::milliseconds write_timeout = std::chrono::minutes{5};
  bool http2 = true;

  /// How often a connection looks whether its time is over; what is late is found at most a quarter of the shortest
  /// limit later.
  [[nodiscard]] std::chrono::milliseconds look_period() const {
    const auto shortest = std::min({head_timeout, body_timeout, idle_timeout, write_timeout});
    return std::max(shortest / 4, std::chrono::milliseconds{1});
  }
};

/// Counts what was refused. Thread safety: all members, from any thread.
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
  /// How often a connection has looked at the time.
  Count looks{0};

  [[nodiscard]] Refusals snapshot() const {
    return {connections,      slow_heads,  slow_bodies,  slow_readers,
            idle_connections, large_heads, large_bodies, stream_resets};
  }
};

}  // namespace kube::testkit::detail
