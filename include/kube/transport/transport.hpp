// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kube {

/// One HTTP header field.
struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};
/// Header fields in their order; a name may occur several times.
using Headers = std::vector<Header>;

/// Returns the first value of the header `name` (case-insensitive), or null.
[[nodiscard]] const std::string* find_header(const Headers& headers,
                                             std::string_view name) noexcept;

/// Selects the connection pool. Requests in different lanes never share a connection, so that a
/// busy watch does not delay a write.
enum class Lane { kRequests, kWatches };

/// A request of an exchange.
struct HttpRequest {
  std::string method = "GET";
  /// Path and query, percent-encoded: "/api/v1/pods?limit=500".
  std::string target = "/";
  Headers headers = {};
  std::string body = {};
  Lane lane = Lane::kRequests;
  /// Limit for the whole exchange, body included. If none, the exchange lasts as long as its
  /// connection.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  /// The longest time without a received byte. If none, only the detection of dead peers applies.
  std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
};

/// Status and headers of a response.
struct HttpResponseHead {
  int status = 0;
  Headers headers = {};
};

/// A response whose body is read while it arrives. Bytes are decompressed. A slow reader pauses the
/// stream (back-pressure): only a bounded number of bytes is buffered.
///
/// Thread safety: one thread reads; cancel() may be called from any thread. The destructor cancels.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;

  /// Status and headers, which have already been received.
  [[nodiscard]] virtual const HttpResponseHead& head() const noexcept = 0;
  /// Returns the next bytes, valid until the next call. Blocks until some have arrived. Empty at
  /// the end of the body. Throws TransportError; kCanceled after cancel() or a stop.
  [[nodiscard]] virtual std::string_view read(std::stop_token stop = {}) = 0;
  /// Waits at most `timeout` until read() would not block. Returns false on timeout. A stop cancels
  /// the exchange, which ends the wait. The default for streams that cannot tell returns true at
  /// once.
  [[nodiscard]] virtual bool wait(std::chrono::nanoseconds timeout, std::stop_token stop = {}) {
    (void)timeout;
    (void)stop;
    return true;
  }
  /// Ends the exchange. A waiting read(), and every later one, throws.
  virtual void cancel() noexcept = 0;
};

/// Sends HTTP requests to one API server. Knows addresses, TLS and connections, but not Kubernetes.
///
/// Thread safety: all methods may be called from any thread.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends the request and waits for the head of the response, whatever its status. Throws
  /// TransportError.
  [[nodiscard]] virtual std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                             std::stop_token stop = {}) = 0;
};

}  // namespace kube
