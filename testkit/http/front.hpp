// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/limits.hpp"
#include "testkit/http/session.hpp"

#include <kube/base/log.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace kube::testkit::detail {

struct FrontTls {
  /// PEM. Without a certificate the front speaks plain HTTP.
  std::string certificate = {};
  std::string key = {};
  /// PEM of the authority that signs certificates of clients; empty asks for none.
  std::string client_ca = {};
};

struct FrontOptions {
  std::string address = "127.0.0.1";
  /// 0 takes any that is free.
  std::uint16_t port = 0;
  int threads = 2;
  FrontTls tls = {};
  /// Without HTTP/2, which is chosen by ALPN or begun by the client without asking, only HTTP/1.1 is spoken.
  ConnectionLimits limits = {};
  /// Connections beyond this number are told so and closed (RQ-12).
  std::size_t max_connections = 4096;
  /// Must outlive the front; null if nobody counts.
  FrontCounters* counters = nullptr;
  Logger logger = {};
};

/// Listens, and has requests answered by a service, which must outlive it.
///
/// Thread safety: all methods, from any thread; stop() once.
class HttpFront {
 public:
  /// Listens when it returns. Throws kube::Error if the address cannot be used.
  HttpFront(Service& service, FrontOptions options);
  /// stop().
  ~HttpFront();
  HttpFront(const HttpFront&) = delete;
  HttpFront& operator=(const HttpFront&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Connections that are open.
  [[nodiscard]] std::size_t connections() const;
  /// Breaks all connections; new ones are welcome.
  void drop_connections();
  /// Lets no more connections and requests in, ends streams, and waits for the rest for at most `grace`.
  void drain(std::chrono::milliseconds grace);
  /// Closes everything at once. No thread and no socket is left when it returns.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kube::testkit::detail
