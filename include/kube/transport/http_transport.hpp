// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/byte_budget.hpp>
#include <kube/base/log.hpp>
#include <kube/config/credentials.hpp>
#include <kube/engine/runtime.hpp>
#include <kube/transport/transport.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kube {

/// What became of one exchange, for metrics.
struct ExchangeReport {
  std::string method = {};
  /// "10.0.0.1:6443"
  std::string host = {};
  /// 0 if there was no head.
  int status = 0;
  /// None if the body was received as a whole.
  std::optional<TransportError::Kind> error = std::nullopt;
  /// Of the bodies, as they crossed the wire.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::chrono::microseconds until_head{0};
  std::chrono::microseconds total{0};
  /// If a connection was made for it: how long that took until the name was found, TCP and TLS were up.
  std::optional<std::chrono::microseconds> resolved = std::nullopt;
  std::optional<std::chrono::microseconds> connected = std::nullopt;
  std::optional<std::chrono::microseconds> secured = std::nullopt;
};

/// How to reach one API server. Zero turns a timeout off. Connecting includes names and proxies, but not TLS.
struct TransportOptions {
  /// "https://10.0.0.1:6443"; without scheme it is https. A path in it is put before each target.
  std::string base_url = {};
  /// What to make connections with. Asked for each request, in the thread of the caller. Without, there is
  /// no client certificate, and the roots of the system are trusted.
  std::shared_ptr<Credentials> credentials = nullptr;
  /// "http://", "https://" or "socks5://"; user and password may stand in it. Empty takes HTTPS_PROXY or
  /// HTTP_PROXY (by the scheme of base_url) and NO_PROXY from the environment, once.
  std::string proxy_url = {};
  /// Otherwise gzip is asked for unless the request has an Accept-Encoding of its own.
  bool disable_compression = false;
  /// Otherwise HTTP/2 is used if it is https and the server agrees (ALPN).
  bool disable_http2 = false;
  std::chrono::milliseconds connect_timeout = std::chrono::seconds{30};
  std::chrono::milliseconds tls_handshake_timeout = std::chrono::seconds{10};
  /// The longest time from open() to the head of the answer for a request without a timeout of its own. It is no limit for
  /// slow servers, which answer within a minute, but for those that never do: a watch has no other.
  std::chrono::milliseconds head_timeout = std::chrono::minutes{5};
  std::chrono::milliseconds tcp_keep_alive = std::chrono::seconds{30};
  /// The longest time that sent bytes may stay unacknowledged (TCP_USER_TIMEOUT).
  std::chrono::milliseconds tcp_user_timeout = std::chrono::seconds{30};
  /// HTTP/2: after this time without a received byte a PING is sent...
  std::chrono::milliseconds read_idle_timeout = std::chrono::seconds{30};
  /// ...and if nothing comes for this long either, the connection is dead, and with it its streams.
  std::chrono::milliseconds ping_timeout = std::chrono::seconds{15};
  std::chrono::milliseconds idle_connection_timeout = std::chrono::seconds{90};
  std::size_t max_idle_connections = 25;
  /// Of the head of an answer, and of its trailers.
  std::size_t max_header_bytes = std::size_t{1} << 20;
  /// How many bytes of one answer wait for its reader before the server is held back. A reader that takes
  /// them holds as many again. (With HTTP/1.1 at most 256 KiB: the kernel holds more.)
  std::size_t stream_buffer_bytes = std::size_t{1} << 20;
  /// Counts the bytes that wait for readers. While it is exhausted, a stream that holds bytes gets no more. May be null.
  std::shared_ptr<ByteBudget> budget = nullptr;
  Logger log = {};
  /// The thread of its loop does all of the I/O. Null makes a Runtime of its own.
  std::shared_ptr<Runtime> runtime = nullptr;
  /// For a Runtime of its own; may be null.
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Called in the thread of the loop, which waits for it. What it throws is swallowed.
  std::function<void(const ExchangeReport&)> on_exchange = nullptr;
};

/// The options with what the environment says: DISABLE_HTTP2 (if not empty), HTTP2_READ_IDLE_TIMEOUT_SECONDS
/// (0 is never) and HTTP2_PING_TIMEOUT_SECONDS. What is not a number changes nothing and is logged.
[[nodiscard]] TransportOptions with_environment(TransportOptions options);

/// HTTP/1.1 and HTTP/2 over sockets, on the loop of a Runtime
/// (docs/decisions/2026-11-15-transport-without-libcurl.md). A request on the thread that runs the loop would wait for
/// itself: open() throws std::logic_error there.
///
/// Redirects are answers like others. Nothing is sent twice, except what the server cannot have seen
/// (GOAWAY, REFUSED_STREAM) or a GET on a connection that turned out to be closed before a byte came back.
///
/// Its destructor cancels everything and waits until its connections are closed, except on the loop's thread; streams may
/// outlive it.
/// Throws TransportError: kProtocol if base_url or proxy_url is not understood, kConnect if there is no file descriptor
/// or thread left for it.
[[nodiscard]] std::unique_ptr<Transport> make_http_transport(TransportOptions options);

}  // namespace kube
