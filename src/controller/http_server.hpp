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
  std::size_t max_connections = 64;  ///< a new one replaces the oldest
  Clock::Duration timeout =
      std::chrono::seconds{10};  ///< from the connection to the last byte of the answer
  Clock* clock = &system_clock();
  Logger log{};
  /// Connections that took too long, that sent too much, and that made room for others.
  Counter slow{};
  Counter large{};
  Counter crowded{};
  /// Its loop has the connections, its workers give the answers. Null shares one with others that name none.
  std::shared_ptr<Runtime> runtime = nullptr;
};

/// A small HTTP server for health checks and metrics: GET and HEAD, one request per connection. Nothing that a client
/// sends, or does not send, can hold it up for others, nor can an answer that takes long or workers that are blocked.
class HttpServer {
 public:
  /// Gets path and query.
  using Answer = std::function<HttpReply(std::string_view path, std::string_view query)>;

  /// Listens; throws kube::Error that names the address if that is not possible. Workers call `answer`, several at once.
  /// An exception is a 500; a function that does not return within the timeout is a 503.
  HttpServer(HttpServerOptions options, Answer answer);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Waits until `answer` has returned.
  ~HttpServer();

  /// With the port that it got: "127.0.0.1:41234".
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  class Service;

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Service> service_;
  const std::string address_;
};

}  // namespace kube::detail
