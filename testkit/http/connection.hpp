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

/// A socket and the session on it. Reads while the session accepts input, and writes the output of
/// the session. No output is produced while a write is pending: this back-pressure slows only the
/// streams of a slow peer.
///
/// Any failure, including an allocation failure, ends only this connection.
///
/// Thread safety: start(), drain(), abort() and break_off() from any thread; everything else runs
/// on the strand. teardown() is called on the strand, or after its thread has ended.
class Connection final : public SessionHost, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::unique_ptr<ByteStream> stream, Strand strand, Service& service,
             ConnectionLimits limits, FrontCounters& counters,
             std::function<void(Connection&)> on_closed);
  ~Connection() override;

  void start();
  void drain();
  void abort();
  /// Like abort(), but cannot fail: shuts the socket down; the reader or the next check closes the
  /// connection.
  void break_off() noexcept;
  void teardown() noexcept;

  void serve(ServerRequest request, std::function<void(Reply)> done) override;
  [[nodiscard]] std::function<void()> waker(std::int32_t stream) override;
  void wake() override;
  void silence() override { silent_ = true; }
  [[nodiscard]] const ConnectionLimits& limits() const override { return limits_; }
  [[nodiscard]] FrontCounters& counters() override { return counters_; }

 private:
  /// The part of a connection that other threads may hold. Outlives the connection.
  struct Gate {
    std::mutex mutex;
    // Guarded by mutex:
    Connection* connection = nullptr;
    /// Streams to be resumed on the strand.
    std::vector<std::int32_t> woken;
    std::vector<std::function<void()>> tasks;
    bool posted = false;
    /// A task or a wake-up was lost because memory ran out; the connection must be closed.
    bool broken = false;
  };

  static void post_locked(Gate& gate);
  /// Ends the connection from any thread. Cannot fail.
  static void break_locked(Gate& gate) noexcept;
  void on_posted();
  void on_handshake();
  void choose_session(std::string_view protocol, std::string_view first_bytes);
  void receive(std::string_view bytes);
  /// Runs `call`. Closes this connection if it throws. Returns whether the connection is still
  /// open.
  template <typename Call>
  bool attempt(Call call) noexcept {
    try {
      call();
    } catch (...) {
      close();
    }
    return !closed_;
  }
  /// Calls into the session; see attempt().
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
  void schedule_check(std::chrono::milliseconds time);
  /// Closes the connection, or refuses its slow requests, if a time limit has passed.
  void check_timeouts();

  const std::unique_ptr<ByteStream> stream_;
  const Strand strand_;
  Service& service_;
  const ConnectionLimits limits_;
  FrontCounters& counters_;
  const std::function<void(Connection&)> on_closed_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::unique_ptr<Session> session_;
  boost::asio::steady_timer timer_;
  /// The start of the interval that check_timeouts() measures: the handshake, the last request, or
  /// the pending write.
  Session::Time since_ = std::chrono::steady_clock::now();
  std::uint64_t requests_seen_ = 0;
  std::array<char, 16384> input_{};
  std::string preface_;
  std::string output_;
  bool reading_ = false;
  bool writing_ = false;
  /// True while the session is being called; pump() runs afterwards.
  bool entered_ = false;
  bool silent_ = false;
  bool draining_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace kube::testkit::detail
