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

struct Header {
  std::string name;
  std::string value;

  bool operator==(const Header&) const = default;
};
using Headers = std::vector<Header>;

/// The first value of that name, whatever its case, or null.
[[nodiscard]] const std::string* find_header(const Headers& headers,
                                             std::string_view name) noexcept;

/// Requests of different lanes do not share a connection, so that a busy watch does not delay a write.
enum class Lane { kRequests, kWatches };

struct HttpRequest {
  std::string method = "GET";
  /// Path and query, percent-encoded: "/api/v1/pods?limit=500".
  std::string target = "/";
  Headers headers = {};
  std::string body = {};
  Lane lane = Lane::kRequests;
  /// For the whole exchange, body included; none waits as long as the connection lives.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  /// The longest time without a single byte; none leaves it to the detection of dead peers.
  std::optional<std::chrono::milliseconds> idle_timeout = std::nullopt;
};

struct HttpResponseHead {
  int status = 0;
  Headers headers = {};
};

/// An answer whose body arrives while it is read. Bytes come decompressed. A reader that falls behind
/// pauses the stream: only a bounded number of bytes waits in memory.
///
/// Thread safety: one thread reads; cancel() may be called from any thread. The destructor cancels.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;

  [[nodiscard]] virtual const HttpResponseHead& head() const noexcept = 0;
  /// The next bytes, valid until the next call; blocks until there are some. Empty at the end of the body.
  /// Throws TransportError, also (kCanceled) after cancel() or a stop.
  [[nodiscard]] virtual std::string_view read(std::stop_token stop = {}) = 0;
  /// Waits until read() would not block, at most for `timeout`; false if it still would. A stop cancels the exchange, which
  /// ends the wait. A stream that cannot tell returns true at once.
  [[nodiscard]] virtual bool wait(std::chrono::nanoseconds timeout, std::stop_token stop = {}) {
    (void)timeout;
    (void)stop;
    return true;
  }
  /// Ends the exchange now; a read() that waits, and every later one, throws.
  virtual void cancel() noexcept = 0;
};

/// Sends HTTP requests to one API server. It knows addresses, TLS and credentials of connections, and
/// nothing of what is said.
///
/// Thread safety: all methods may be called from any thread.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends the request and waits for the head of the answer, whatever its status. Throws TransportError.
  [[nodiscard]] virtual std::unique_ptr<ResponseStream> open(HttpRequest request,
                                                             std::stop_token stop = {}) = 0;
};

}  // namespace kube
