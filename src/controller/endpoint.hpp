// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http_server.hpp"
#include <kube/base/clock.hpp>
#include <kube/base/log.hpp>
#include <kube/base/metrics.hpp>
#include <kube/controller/health.hpp>
#include <kube/engine/runtime.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

struct EndpointOptions {
  std::string address{};  ///< "127.0.0.1:8080", "[::1]:8080", ":8080"
  /// For each step: the head of the request, the answer, and reading the response.
  std::chrono::milliseconds timeout = std::chrono::seconds{10};
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

/// An HTTP endpoint for health checks or metrics: GET and HEAD, one request per connection, so that
/// few connections are enough for all clients. Slow or malicious clients, slow answers and blocked
/// workers cannot delay other connections.
class Endpoint {
 public:
  /// Receives path and query.
  using Answer = std::function<HttpReply(std::string_view path, std::string_view query)>;

  /// Listens on the address. Throws kube::Error that names the address if that is not possible.
  /// Workers call `answer`, concurrently. An exception becomes a 500; a call that does not return
  /// within the timeout a 503.
  Endpoint(EndpointOptions options, Answer answer);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  /// Waits until `answer` has returned.
  ~Endpoint();

  /// Returns the address with the actual port: "127.0.0.1:41234".
  [[nodiscard]] const std::string& address() const noexcept { return server_->address(); }

 private:
  class Answers;
  class Requests;

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Answers> answers_;
  const std::unique_ptr<Requests> requests_;
  std::optional<server::HttpServer> server_;
};

}  // namespace kube::detail
