// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/test_certificates.hpp"

namespace kube::test {

/// The TLS configuration of a scripted server.
struct ServerTls {
  CertifiedKey certificate;
  /// If not empty, clients must present a certificate of this authority (PEM).
  std::string client_ca = {};
  /// Makes the client certificate optional.
  bool client_may_be_anonymous = false;
  /// In order of preference; if empty, ALPN is not negotiated.
  std::vector<std::string> alpn = {};
  int max_version = TLS1_3_VERSION;
};

/// The server's end of a connection, for the script that runs on it. All calls block, and return
/// when the server is destroyed. Belongs to the thread of its script.
class Peer {
 public:
  Peer(int socket, SSL_CTX* context);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Returns false if TLS is configured and the handshake failed.
  bool handshake();
  /// Reads available bytes; empty at the end or on an error.
  [[nodiscard]] std::string read_some();
  /// Reads up to and including `text`; shorter if the connection ends before.
  [[nodiscard]] std::string read_until(std::string_view text);
  /// Reads the head of a request; the body, if it has a Content-Length, is in body().
  [[nodiscard]] std::string read_request();
  [[nodiscard]] const std::string& body() const noexcept { return body_; }
  /// Returns false if writing failed.
  bool write(std::string_view bytes);
  /// Sends a response with a status such as "200 OK" and Content-Length.
  bool respond(std::string_view status, std::string_view body, std::string_view headers = {});
  /// Waits until the client disconnects.
  void wait_for_end();
  /// Returns true if the client disconnects or sends data within `limit`.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds limit) const;
  /// Closes the connection with a RST.
  void reset();
  /// Closes the connection without the close_notify of TLS.
  void cut();
  [[nodiscard]] int socket() const noexcept { return socket_; }
  [[nodiscard]] SSL* ssl() const noexcept { return ssl_; }
  /// Returns the common name of the client's certificate.
  [[nodiscard]] std::string client_name() const;
  [[nodiscard]] std::string server_name() const;

 private:
  int socket_;
  SSL* ssl_ = nullptr;
  std::string buffer_;
  std::string body_;
};

/// Listens on a port of 127.0.0.1 and runs a script for each connection in its own thread.
class ScriptedServer {
 public:
  using Script = std::function<void(Peer& peer)>;

  explicit ScriptedServer(Script script, std::optional<ServerTls> tls = std::nullopt);
  /// Closes all connections and joins all threads.
  ~ScriptedServer();

  [[nodiscard]] int port() const noexcept { return port_; }
  /// Returns "https://127.0.0.1:12345".
  [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const;
  /// Returns the number of connections accepted so far.
  [[nodiscard]] int accepted() const noexcept { return accepted_; }
  /// Returns the number of open connections.
  [[nodiscard]] int open() const noexcept { return open_; }
  /// Uses another certificate for new connections.
  void use(const ServerTls& tls);

 private:
  struct Running {
    std::jthread thread;
    int socket = -1;
    bool done = false;
  };

  void accept_loop();
  void serve(Running& running, int socket);

  Script script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> open_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::shared_ptr<SSL_CTX> context_;
  std::list<Running> running_;

  std::jthread acceptor_;
};

/// Encodes a chunk of the chunked transfer encoding.
[[nodiscard]] std::string chunk(std::string_view bytes);
/// Compresses text to one gzip member.
[[nodiscard]] std::string gzip(std::string_view text);

}  // namespace kube::test
