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

/// The outcome of one exchange, for metrics.
struct ExchangeReport {
  std::string method = {};
  /// "10.0.0.1:6443"
  std::string host = {};
  /// 0 if no response head was received.
  int status = 0;
  /// None if the whole body was received.
  std::optional<TransportError::Kind> error = std::nullopt;
  /// Bytes of the bodies as transferred, before decompression.
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::chrono::microseconds until_head{0};
  std::chrono::microseconds total{0};
  /// Set only if a connection was made for the exchange: the time until the name was resolved,
  /// until TCP was connected, and until TLS was established.
  std::optional<std::chrono::microseconds> resolved = std::nullopt;
  std::optional<std::chrono::microseconds> connected = std::nullopt;
  std::optional<std::chrono::microseconds> secured = std::nullopt;
};

/// How to reach one API server. Zero disables a timeout. Connecting includes name resolution and
/// proxies, but not TLS.
struct TransportOptions {
  /// "https://10.0.0.1:6443"; https if it has no scheme. Its path is prepended to each target.
  std::string base_url = {};
  /// Provides the TLS material. Called for each request, in the caller's thread. If null, there is
  /// no client certificate, and the system's roots are trusted.
  std::shared_ptr<Credentials> credentials = nullptr;
  /// "http://", "https://" or "socks5://", with user and password if needed. If empty, HTTPS_PROXY
  /// or HTTP_PROXY (by the scheme of base_url) and NO_PROXY are read from the environment, once.
  std::string proxy_url = {};
  /// If false, requests ask for gzip unless they have an Accept-Encoding header.
  bool disable_compression = false;
  /// If false, HTTP/2 is used for https if the server agrees (ALPN).
  bool disable_http2 = false;
  /// The longest time to connect.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds{30};
  /// The longest time for TLS.
  std::chrono::milliseconds tls_handshake_timeout = std::chrono::seconds{10};
  /// The longest time from open() to the head of the response, for a request without a timeout.
  /// Meant for servers that never respond, not for slow ones, which respond within a minute: a
  /// watch has no other limit.
  std::chrono::milliseconds head_timeout = std::chrono::minutes{5};
  /// The interval of TCP keep-alive probes, at least one second.
  std::chrono::milliseconds tcp_keep_alive = std::chrono::seconds{30};
  /// The longest time that sent bytes may stay unacknowledged (TCP_USER_TIMEOUT).
  std::chrono::milliseconds tcp_user_timeout = std::chrono::seconds{30};
  /// HTTP/2: sends a PING after this time without a received byte.
  std::chrono::milliseconds read_idle_timeout = std::chrono::seconds{30};
  /// HTTP/2: closes the connection and fails its streams if nothing is received for this long after
  /// a PING.
  std::chrono::milliseconds ping_timeout = std::chrono::seconds{15};
  /// Closes a connection that has had no request for this time.
  std::chrono::milliseconds idle_connection_timeout = std::chrono::seconds{90};
  /// Closes the connections that were idle longest if there are more than this.
  std::size_t max_idle_connections = 25;
  /// Limit for the head of a response, and for its trailers.
  std::size_t max_header_bytes = std::size_t{1} << 20;
  /// How many bytes of one response are buffered for its reader before the server is held back. The
  /// reader may hold as many again. (HTTP/1.1: at most 256 KiB, as the kernel buffers more.)
  std::size_t stream_buffer_bytes = std::size_t{1} << 20;
  /// Counts the buffered bytes. While it is exhausted, a stream that has buffered bytes receives no
  /// more. May be null.
  std::shared_ptr<ByteBudget> budget = nullptr;
  /// Receives connections and their failures, at debug level, and ignored settings; silent by
  /// default.
  Logger log = {};
  /// Its loop thread does all I/O. If null, the transport creates a Runtime.
  std::shared_ptr<Runtime> runtime = nullptr;
  /// Metrics of the Runtime that the transport creates; may be null.
  std::shared_ptr<Metrics> metrics = nullptr;
  /// Called in the loop thread, which waits for it. Exceptions are swallowed.
  std::function<void(const ExchangeReport&)> on_exchange = nullptr;
};

/// Returns `options` with the environment applied: DISABLE_HTTP2 (if not empty),
/// HTTP2_READ_IDLE_TIMEOUT_SECONDS (0 disables it) and HTTP2_PING_TIMEOUT_SECONDS. A value that is
/// not a number is logged and ignored.
[[nodiscard]] TransportOptions with_environment(TransportOptions options);

/// Makes a transport for HTTP/1.1 and HTTP/2 over sockets, on the loop of a Runtime
/// (docs/decisions/2026-11-15-transport-without-libcurl.md). open() throws std::logic_error on the
/// loop's thread, where it would deadlock.
///
/// Redirects are not followed. A request is sent again only if the server cannot have processed it
/// (GOAWAY, REFUSED_STREAM), or if it is a GET and its connection turns out to be closed before a
/// byte was received.
///
/// The destructor cancels all exchanges and, except on the loop's thread, waits until the
/// connections are closed. Streams may outlive it.
///
/// Throws TransportError: kProtocol if base_url or proxy_url is malformed, kConnect if no file
/// descriptor or thread is available.
[[nodiscard]] std::unique_ptr<Transport> make_http_transport(TransportOptions options);

}  // namespace kube
