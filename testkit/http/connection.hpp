// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/session.hpp"
#include "testkit/http/stream.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kube::testkit::detail {

/// A socket and the session on it. Reads while the session wants input, writes what it produces; while a
/// write is under way nothing is produced, so that a slow peer slows its own streams and nobody else.
///
/// Whatever fails on the way, memory for instance, ends this connection and nothing else.
///
/// Thread safety: start(), drain() and abort() from any thread; the rest happens on the strand.
/// teardown() is called on the strand, or when no thread runs it any more.
class Connection final : public SessionHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::unique_ptr<ByteStream> stream, Strand strand, Service& service,
             ConnectionLimits limits, FrontCounters& counters,
             std::function<void(Connection&)> on_closed);
  ~Connection() override;

  void start();
  void drain();
  void abort();
  /// The same with nothing that can fail, if later; from any thread.
  void break_off() noexcept;
  void teardown() noexcept;

  void serve(ServerRequest request, std::function<void(Reply)> done) override;
  [[nodiscard]] std::function<void()> waker(std::int32_t stream) override;
  void wake() override;
  void silence() override { silent_ = true; }
  [[nodiscard]] const ConnectionLimits& limits() const override { return limits_; }
  [[nodiscard]] FrontCounters& counters() override { return counters_; }

 private:
  /// What other threads hold of a connection: it outlives it and knows when it is gone.
  struct Gate {
    std::mutex mutex;
    // Guarded by mutex:
    Connection* connection = nullptr;
    std::vector<std::int32_t> woken;
    std::vector<std::function<void()>> tasks;
    bool posted = false;
    /// Something was lost on the way: the connection must not go on.
    bool broken = false;
  };

  static void post_locked(Gate& gate);
  /// Ends the connection from any thread with nothing that can fail.
  static void break_locked(Gate& gate) noexcept;
  void on_posted();
  void on_handshake();
  void choose_session(std::string_view protocol, std::string_view first_bytes);
  void receive(std::string_view bytes);
  /// What `call` throws (memory has run out, say) ends this connection only; false then.
  template <typename Call>
  bool attempt(Call call) noexcept {
    try {
      call();
    } catch (...) {
      close();
    }
    return !closed_;
  }
  /// Calls into the session.
  template <typename Call>
  bool enter(Call call) noexcept {
    entered_ = true;
    const bool open = attempt(std::move(call));
    entered_ = false;
    return open;
  }
  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void pump();
  void write(boost::asio::const_buffer bytes);
  void finish();
  void close() noexcept;
  void look_after(std::chrono::milliseconds time);
  /// Whether something has taken too long, and what follows.
  void look();

  const std::unique_ptr<ByteStream> stream_;
  const Strand strand_;
  Service& service_;
  const ConnectionLimits limits_;
  FrontCounters& counters_;
  const std::function<void(Connection&)> on_closed_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::unique_ptr<Session> session_;
  boost::asio::steady_timer timer_;
  /// When what look() measures began: the handshake, the last request, or the write that is under way.
  Session::Time since_ = std::chrono::steady_clock::now();
  std::uint64_t requests_seen_ = 0;
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
