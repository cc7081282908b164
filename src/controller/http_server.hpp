// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/controller/health.hpp>
#include <kube/engine/runtime.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace kube::detail {

struct HttpServerOptions {
  std::string address{};  ///< "127.0.0.1:8080", "[::1]:8080", ":8080"
  std::size_t max_head = 8192;
  std::size_t max_connections = 64;  ///< a new connection replaces the oldest
  Clock::Duration timeout =
      std::chrono::seconds{10};  ///< from the connection to the last byte of the response
  Clock* clock = &system_clock();
  Logger log{};
  /// Connections that were too slow, sent too much, or were dropped for newer ones.
  Counter slow{};
  Counter large{};
  Counter crowded{};
  /// Runtime whose loop serves the connections and whose workers compute the answers. If null, a
  /// shared one is used.
  std::shared_ptr<Runtime> runtime = nullptr;
};

/// A small HTTP server for health checks and metrics: GET and HEAD, one request per connection.
/// Slow or malicious clients, slow answers and blocked workers cannot delay other connections.
class HttpServer {
 public:
  /// Receives path and query.
  using Answer = std::function<HttpReply(std::string_view path, std::string_view query)>;

  /// Listens on the address. Throws kube::Error that names the address if that is not possible.
  /// Workers call `answer`, concurrently. An exception becomes a 500; a call that does not return
  /// within the timeout a 503.
  HttpServer(HttpServerOptions options, Answer answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Waits until `answer` has returned.
  ~HttpServer();

  /// Returns the address with the actual port: "127.0.0.1:41234".
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  class Service;

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Service> service_;
  const std::string address_;
};

}  // namespace kube::detail
