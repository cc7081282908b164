// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <memory>
#include <optional>
#include <span>

#include "network.hpp"
#include "session.hpp"

namespace kube::detail {

/// A connection, from name resolution to its end: a Dial, then an HTTP Session on the resulting
/// stream. Used on the loop's thread.
///
/// Every error fails its exchanges and closes it; only make() throws. No exchange points to a
/// destroyed connection.
class Connection {
 public:
  using TimePoint = Clock::TimePoint;

  /// References must outlive it. `returned` receives exchanges that the peer has not processed.
  Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
             const TransportOptions& options, const Clock& clock, ExchangeQueue& returned);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Null until the connection is established.
  [[nodiscard]] Session* session() const noexcept { return session_.get(); }
  [[nodiscard]] const TlsMaterial& material() const noexcept { return *material_; }

  /// Continues to connect. Returns true once the connection is established. Throws TransportError.
  [[nodiscard]] bool make(TimePoint now);
  /// Returns whether a request may be sent now. Closes the connection if the peer has closed it, or
  /// has sent data that is not a response to a request.
  [[nodiscard]] bool check_input() noexcept;
  void begin(const std::shared_ptr<Exchange>& exchange) noexcept;
  /// Called when the reader of the exchange has made room, or when the exchange ends before its
  /// response is complete.
  void attend(const std::shared_ptr<Exchange>& exchange) noexcept;
  /// Returns how many exchanges may start now.
  [[nodiscard]] std::size_t room() const {
    return session_ && !broken_ && !retired_ ? session_->room() : 0;
  }
  /// Writes, and with a buffer also reads. Non-blocking; reads a bounded amount, so that one busy
  /// peer cannot starve the others.
  void pump(std::span<char> buffer = {}) noexcept;
  /// Sends a PING when it is due, and closes the connection if the peer does not respond.
  void check_peer(TimePoint now) noexcept;
  /// Fails all exchanges of the connection.
  void fail(const TransportError& error) noexcept;
  /// No further exchange starts on this connection.
  void retire() noexcept { retired_ = true; }

  /// Subscribes to readiness of its sockets.
  void wait() noexcept;
  /// Extends the deadlines by the time that the loop did not run, which is not the peer's fault.
  void extend_deadlines(Clock::Duration stall) noexcept;
  /// Returns when make() or check_peer() must be called even if no socket is ready.
  [[nodiscard]] TimePoint next_step() const;

  [[nodiscard]] bool closed() const;
  /// True if it has no room now but will: it is still connecting, or the server has not yet
  /// announced how many streams it allows, or allows none.
  [[nodiscard]] bool will_have_room() const;
  [[nodiscard]] bool idle() const { return session_ && session_->active() == 0; }
  [[nodiscard]] TimePoint idle_since() const noexcept { return idle_since_; }
  /// True if some output has not been sent yet.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  /// True if there may be data already decrypted by OpenSSL, which poll() does not report.
  [[nodiscard]] bool has_more() const { return more_ && session_->wants_input(); }

 private:
  void read_some(std::span<char> buffer);
  void write_all();
  [[nodiscard]] TransportError silent_peer() const;

  const SessionSettings& settings_;
  const TransportOptions& options_;
  const Clock& clock_;
  ExchangeQueue& returned_;
  const std::shared_ptr<const TlsMaterial> material_;
  std::unique_ptr<Dial> dial_;  // until the connection is established
  DialTimes times_;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<Session> session_;
  std::size_t begun_ = 0;
  bool retired_ = false;
  bool broken_ = false;
  bool blocked_ = false;
  bool more_ = false;
  bool fresh_ = false;  // established in this turn
  TimePoint idle_since_{};
  TimePoint last_received_{};
  std::optional<TimePoint> ping_sent_;
};

}  // namespace kube::detail
