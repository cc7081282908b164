// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <memory>
#include <optional>
#include <span>

#include "network.hpp"
#include "session.hpp"

namespace kube::detail {

/// A connection from the lookup of its name to its end: a Dial, and HTTP on what it made. Belongs to the loop's
/// thread.
///
/// Whatever goes wrong on it fails its exchanges and closes it: nothing but make() throws. No exchange points at a
/// connection that is destroyed.
class Connection {
 public:
  using TimePoint = Clock::TimePoint;

  /// What is given by reference must outlive it. `returned` gets exchanges that the peer has not looked at.
  Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
             const TransportOptions& options, const Clock& clock, ExchangeQueue& returned);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Null while it is being made.
  [[nodiscard]] Session* session() const noexcept { return session_.get(); }
  [[nodiscard]] const TlsMaterial& material() const noexcept { return *material_; }

  /// Goes on with making it; returns true once it stands. Throws TransportError.
  [[nodiscard]] bool make(TimePoint now);
  /// Returns whether a request may be sent now. Closes the connection if its peer has already closed it, or said
  /// something that answers no request.
  [[nodiscard]] bool check_input() noexcept;
  void begin(const std::shared_ptr<Exchange>& exchange) noexcept;
  /// The reader of the exchange has made room, or the exchange is done before its answer was complete.
  void attend(const std::shared_ptr<Exchange>& exchange) noexcept;
  /// How many exchanges may begin now.
  [[nodiscard]] std::size_t room() const {
    return session_ && !broken_ && !retired_ ? session_->room() : 0;
  }
  /// Writes, and with a buffer also reads. Non-blocking, with a bounded amount of input, so that one busy peer cannot
  /// starve the others.
  void pump(std::span<char> buffer = {}) noexcept;
  /// Sends PING when it is time to, and gives up a connection whose peer does not answer.
  void check_peer(TimePoint now) noexcept;
  /// Fails all exchanges on it.
  void fail(const TransportError& error) noexcept;
  /// Nothing begins on it any more.
  void retire() noexcept { retired_ = true; }

  /// Has the loop tell when one of its sockets is ready.
  void wait() noexcept;
  /// Nobody ran the loop for that long, which is not the peer's fault.
  void forgive(Clock::Duration stall) noexcept;
  /// When make() or check_peer() has something to do though no socket is ready.
  [[nodiscard]] TimePoint next_step() const;

  [[nodiscard]] bool closed() const;
  /// It has no room now, but will have: it is being made, or the server has not said yet how many streams it
  /// allows, or none at all.
  [[nodiscard]] bool promising() const;
  [[nodiscard]] bool idle() const { return session_ && session_->active() == 0; }
  [[nodiscard]] TimePoint idle_since() const noexcept { return idle_since_; }
  /// Not all that is to be sent has been.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  /// There may be bytes that the socket does not tell of.
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
  std::unique_ptr<Dial> dial_;  // until it stands
  DialTimes times_;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<Session> session_;
  std::size_t begun_ = 0;
  bool retired_ = false;
  bool broken_ = false;
  bool blocked_ = false;
  bool more_ = false;
  bool fresh_ = false;  // it stands since this turn
  TimePoint idle_since_{};
  TimePoint last_received_{};
  std::optional<TimePoint> ping_sent_;
};

}  // namespace kube::detail
