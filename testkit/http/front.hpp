// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/limits.hpp"
#include "testkit/http/service.hpp"

#include <kube/base/log.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace kube::testkit::detail {

/// Certificates of the front.
struct FrontTls {
  /// PEM. If empty, the front serves plain HTTP.
  std::string certificate = {};
  std::string key = {};
  /// PEM of the authority that signs client certificates; empty requests none.
  std::string client_ca = {};
};

/// Configuration of an HttpFront.
struct FrontOptions {
  std::string address = "127.0.0.1";
  /// 0 picks a free port.
  std::uint16_t port = 0;
  int threads = 2;
  FrontTls tls = {};
  /// Time limits, and whether HTTP/2 is offered (by ALPN, or by prior knowledge) in addition to
  /// HTTP/1.1.
  ConnectionLimits limits = {};
  /// Connections beyond this number get a 503 and are closed (RQ-12).
  std::size_t max_connections = 4096;
  /// Optional; must outlive the front.
  FrontCounters* counters = nullptr;
  Logger logger = {};
};

/// The HTTP server of the library (src/server) with threads of its own. Passes requests to a
/// Service, which must outlive it; upgrades watches to WebSocket.
///
/// Thread safety: all methods, from any thread.
class HttpFront {
 public:
  /// Listens when the constructor returns. Throws kube::Error if the address cannot be used.
  HttpFront(Service& service, FrontOptions options);
  /// Closes everything at once and joins the threads.
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// Returns the number of open connections.
  [[nodiscard]] std::size_t connections() const;
  /// Breaks all connections; new ones are accepted.
  void drop_connections();
  /// Accepts no more connections and requests, ends streams, and waits at most `grace` for the
  /// rest.
  void drain(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::testkit::detail
