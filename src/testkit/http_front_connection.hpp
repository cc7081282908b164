// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http_front_session.hpp"
#include "http_front_stream.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kube::testkit::detail {

/// How long a connection may be quiet, in real time: these guard sockets, not what the server says.
struct ConnectionLimits {
  std::chrono::milliseconds head_timeout = std::chrono::seconds{32};
  std::chrono::milliseconds idle_timeout = std::chrono::seconds{90};
  bool http2 = true;
};

/// A socket and the session on it. Reads while the session wants input, writes what it produces; while a
/// write is under way nothing is produced, so that a slow peer slows its own streams and nobody else.
///
/// Thread safety: start(), drain() and abort() from any thread; the rest happens on the strand.
/// teardown() is called on the strand, or when no thread runs it any more.
class Connection final : public SessionHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::unique_ptr<ByteStream> stream, Strand strand, Service& service,
             ConnectionLimits limits, std::function<void(Connection&)> on_closed);
  ~Connection() override;

  void start();
  void drain();
  void abort();
  void teardown();

  void serve(ServerRequest request, std::function<void(Reply)> done) override;
  [[nodiscard]] std::function<void()> waker(std::int32_t stream) override;
  void wake() override;
  void silence() override { silent_ = true; }

 private:
  /// What other threads hold of a connection: it outlives it and knows when it is gone.
  struct Gate {
    std::mutex mutex;
    // Guarded by mutex:
    Connection* connection = nullptr;
    std::vector<std::int32_t> woken;
    std::vector<std::function<void()>> tasks;
    bool posted = false;
  };

  static void post_locked(Gate& gate);
  void on_posted();
  void on_handshake();
  void choose_session(std::string_view protocol, std::string_view first_bytes);
  void receive(std::string_view bytes);
  /// Calls into the session. What it throws (memory has run out, say) ends this connection only; false then.
  template <typename Call>
  bool enter(Call call) {
    entered_ = true;
    try {
      call();
    } catch (const std::exception&) {
      close();
    }
    entered_ = false;
    return !closed_;
  }
  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void pump();
  void finish();
  void close();
  [[nodiscard]] std::optional<std::chrono::milliseconds> patience() const;
  void watch_time();

  const std::unique_ptr<ByteStream> stream_;
  const Strand strand_;
  Service& service_;
  const ConnectionLimits limits_;
  const std::function<void(Connection&)> on_closed_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::unique_ptr<Session> session_;
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point last_active_ = std::chrono::steady_clock::now();
  std::array<char, 16384> input_{};
  std::string preface_;
  std::string output_;
  bool reading_ = false;
  bool writing_ = false;
  /// The session is being called, and pump() follows.
  bool entered_ = false;
  bool silent_ = false;
  bool draining_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace kube::testkit::detail
