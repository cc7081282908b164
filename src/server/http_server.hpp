// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/log.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "certificate.hpp"
#include "handler.hpp"
#include "limits.hpp"

namespace kube::detail {
class Scheduler;
}

namespace kube::server {

struct HttpServerOptions {
  std::string address = {};  ///< "127.0.0.1:8080", "[::1]:8080", ":8080"; port 0 is any free one
  /// Null: plain HTTP. Its files are read again every ten seconds.
  std::shared_ptr<Certificate> certificate = nullptr;
  Limits limits = {};
  /// For all limits in time; must outlive the server.
  Clock* clock = &system_clock();
  Logger log = {};
  /// The loops that serve the connections, in turns; at least one. The first one accepts them.
  std::vector<std::shared_ptr<detail::Scheduler>> loops = {};
};

/// An HTTP server: HTTP/1.1 and HTTP/2, with or without TLS, on event loops. Slow or malicious
/// clients cannot delay others, nor exhaust memory or descriptors.
///
/// Thread safety: all methods may be called from any thread, but the destructor not by a Handler.
class HttpServer {
 public:
  /// Listens when the constructor returns. Throws kube::Error that names the address if that is not
  /// possible. `handler` must outlive the server.
  HttpServer(HttpServerOptions options, Handler& handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Closes everything. Afterwards the handler is not called any more, and answers are dropped.
  ~HttpServer();

  /// Returns the address with the actual port: "127.0.0.1:41234".
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// Returns the number of open connections.
  [[nodiscard]] std::size_t connections() const;
  /// Breaks all connections; new ones are accepted.
  void drop_connections() noexcept;
  /// Accepts no more connections and requests, ends streams, and waits at most `grace` for the
  /// rest.
  void drain(std::chrono::milliseconds grace);

 private:
  class Acceptor;
  class Reloader;

  const std::shared_ptr<Acceptor> acceptor_;
  const std::shared_ptr<Reloader> reloader_;  // null without certificate files
  const std::string address_;
};

}  // namespace kube::server
