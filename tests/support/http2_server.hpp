// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>

#include "support/scripted_server.hpp"

namespace kube::test {

class Http2Connection;

/// A response body that a test writes while it is being sent.
/// Thread safety: any thread.
class Http2Body {
 public:
  void write(std::string_view bytes);
  void end();
  /// Sends RST_STREAM.
  void reset(std::uint32_t code);
  /// Waits until the client has reset the stream or disconnected.
  [[nodiscard]] bool wait_closed(std::chrono::seconds limit = std::chrono::seconds{10});
  /// Returns the number of bytes passed on for sending.
  [[nodiscard]] std::size_t sent() const;
  /// Waits until no byte was passed on for that long.
  [[nodiscard]] std::size_t wait_stalled(std::chrono::milliseconds quiet);

 private:
  friend class Http2Connection;
  void wake_locked();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  Http2Connection* connection_ = nullptr;
  std::string bytes_;
  std::size_t sent_ = 0;
  bool ended_ = false;
  bool closed_ = false;
  std::optional<std::uint32_t> reset_;
};

struct Http2Request {
  std::map<std::string, std::string> headers;
  std::string body;
};

struct Http2Reply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// If null, no response head is sent.
  std::shared_ptr<Http2Body> body = std::make_shared<Http2Body>();
  /// Number of filler bytes that are sent after the content of the body, before it ends.
  std::uint64_t filler = 0;
};

struct Http2Options {
  std::uint32_t max_streams = 100;
  bool ignore_ping = false;
  std::string client_ca = {};
};

/// An HTTP/2 server over TLS. The handler is called in the thread of the connection once a request
/// is complete.
class Http2Server {
 public:
  using Handler = std::function<Http2Reply(const Http2Request& request)>;

  Http2Server(const CertifiedKey& certificate, Handler handler, Http2Options options = {});
  ~Http2Server();

  [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const {
    return server_.url(host);
  }
  [[nodiscard]] int accepted() const noexcept { return server_.accepted(); }
  [[nodiscard]] int open() const noexcept { return server_.open(); }
  [[nodiscard]] int pings() const noexcept { return pings_; }
  void use(const ServerTls& tls) { server_.use(tls); }
  /// Sends GOAWAY on all connections: streams above `last_stream` were not processed.
  void go_away(std::int32_t last_stream);
  /// Stops reading and writing on all connections.
  void freeze() { frozen_ = true; }

 private:
  friend class Http2Connection;

  Handler handler_;
  Http2Options options_;
  std::atomic<int> pings_ = 0;
  std::atomic<bool> frozen_ = false;
  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<Http2Connection*> connections_;

  ScriptedServer server_;
};

}  // namespace kube::test
