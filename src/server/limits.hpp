// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kube::server {

/// Limits for one client, and for all of them together. All times are measured from the start of the
/// operation, so that a trickle of bytes does not extend them.
struct Limits {
  /// For the TLS handshake, and for the head of a request from its first byte.
  std::chrono::milliseconds head_timeout = std::chrono::seconds{32};
  /// For the body of a request, from the end of its head; not for one that the handler streams.
  std::chrono::milliseconds body_timeout = std::chrono::seconds{60};
  /// For the handler; 0: no limit.
  std::chrono::milliseconds answer_timeout{0};
  /// For a connection without a request. Frames that belong to no request do not count.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds{90};
  /// For a peer to read the data of one write, at most 64 KiB or one chunk.
  std::chrono::milliseconds write_timeout = std::chrono::minutes{5};
  /// Bytes and fields of the head of a request.
  std::size_t max_head = 1048576;
  std::size_t max_headers = 1000;
  /// Bytes of the body of a request; not for one that the handler streams.
  std::size_t max_body = 3145728;
  /// Whether HTTP/2 is accepted (by ALPN, or by prior knowledge) in addition to HTTP/1.1.
  bool http2 = true;
  /// HTTP/2 streams per connection.
  std::uint32_t max_streams = 100;

  std::size_t max_connections = 4096;
  /// The policy for connections beyond the limit.
  enum class WhenFull {
    kRefuseNew,      ///< they get a refusal (Refusal::kCrowded) and are closed
    kReplaceOldest,  ///< the oldest connection gets one (Refusal::kReplaced) and is closed
  };
  WhenFull when_full = WhenFull::kRefuseNew;
};

}  // namespace kube::server
