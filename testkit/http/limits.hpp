// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/handler.hpp"
#include "server/limits.hpp"

#include <kube/testkit/refusals.hpp>

#include <atomic>
#include <cstdint>

/// Limits that protect the server's sockets from a single client (RQ-7, RQ-9, RQ-12), and counters
/// of refusals.
namespace kube::testkit::detail {

/// The limits of an API server are the defaults of the HTTP server.
using ConnectionLimits = server::Limits;

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

  void count(server::Incident incident) noexcept {
    using server::Incident;
    switch (incident) {
      case Incident::kSlowHead:
        ++slow_heads;
        break;
      case Incident::kSlowBody:
        ++slow_bodies;
        break;
      case Incident::kSlowReader:
        ++slow_readers;
        break;
      case Incident::kIdle:
        ++idle_connections;
        break;
      case Incident::kLargeHead:
        ++large_heads;
        break;
      case Incident::kLargeBody:
        ++large_bodies;
        break;
      case Incident::kCrowded:
        ++connections;
        break;
      case Incident::kStreamResets:
        ++stream_resets;
        break;
      case Incident::kSlowAnswer:
        break;  // an API server has no limit for that
    }
  }

  [[nodiscard]] Refusals snapshot() const {
    return {connections,      slow_heads,  slow_bodies,  slow_readers,
            idle_connections, large_heads, large_bodies, stream_resets};
  }
};

}  // namespace kube::testkit::detail
