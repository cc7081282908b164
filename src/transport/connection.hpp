// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dial.hpp"
#include "session.hpp"

namespace kube::detail {

/// A connection from the lookup of its name to its end: a Dial, and HTTP on what it made. Belongs to the loop's
/// thread.
class Connection {
 public:
  using TimePoint = Clock::TimePoint;

  Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
             const TransportOptions& options);

  /// Null while it is being made.
  [[nodiscard]] Session* session() const noexcept { return session_.get(); }
  [[nodiscard]] const TlsMaterial& material() const noexcept { return *material_; }

  /// Goes on with making it; returns true once it stands. Throws TransportError.
  [[nodiscard]] bool make(TimePoint now);
  void begin(const std::shared_ptr<Exchange>& exchange);
  /// How many exchanges may begin now.
  [[nodiscard]] std::size_t room() const { return session_ && !retired_ ? session_->room() : 0; }
  /// Writes, and with a buffer also reads, what can be, without waiting, and not for ever.
  void pump(std::span<char> buffer = {});
  /// Sends PING when it is time to, and gives up a connection whose peer does not answer.
  void check_peer(TimePoint now);
  /// Fails all that runs on it.
  void fail(const TransportError& error);
  /// Nothing begins on it any more.
  void retire() noexcept { retired_ = true; }

  /// Adds the sockets that it waits for.
  void watch(std::vector<pollfd>& sockets) const;
  /// Something has happened on one of them.
  void ready() noexcept { ready_ = true; }
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

  const SessionSettings& settings_;
  const TransportOptions& options_;
  const std::shared_ptr<const TlsMaterial> material_;
  std::unique_ptr<Dial> dial_;  // until it stands
  DialTimes times_;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<Session> session_;
  std::size_t begun_ = 0;
  bool retired_ = false;
  bool broken_ = false;
  bool blocked_ = false;
  bool ready_ = false;
  bool more_ = false;
  TimePoint idle_since_{};
  TimePoint last_received_{};
  std::optional<TimePoint> ping_sent_;
};

}  // namespace kube::detail
