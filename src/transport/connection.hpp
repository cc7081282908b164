// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/curl_transport.hpp>

#include <memory>
#include <optional>
#include <span>

#include "dial.hpp"
#include "session.hpp"

namespace kube::detail {

/// A connection from its first SYN to its end: a Dial, and HTTP on it once it stands. Belongs to the loop's
/// thread.
class Connection {
 public:
  using TimePoint = Clock::TimePoint;

  Connection(std::unique_ptr<Dial> dial, const SessionSettings& settings,
             const TransportOptions& options);

  [[nodiscard]] const Dial& dial() const noexcept { return *dial_; }
  /// Null while it is being made.
  [[nodiscard]] Session* session() const noexcept { return session_.get(); }
  [[nodiscard]] const TlsMaterial& material() const noexcept { return *dial_->material(); }

  /// The Dial has succeeded.
  void establish();
  void begin(const std::shared_ptr<Exchange>& exchange);
  /// How many exchanges may begin now.
  [[nodiscard]] std::size_t room() const { return session_ && !retired_ ? session_->room() : 0; }
  /// Writes, and with a buffer also reads, what can be, without waiting, and not for ever.
  void pump(bool readable = false, std::span<char> buffer = {});
  /// Sends PING when it is time to, and gives up a connection whose peer does not answer.
  void check_peer(TimePoint now);
  /// When check_peer() has something to do.
  [[nodiscard]] TimePoint next_check() const;
  /// Fails all that runs on it.
  void fail(const TransportError& error);
  /// Nothing begins on it any more.
  void retire() noexcept { retired_ = true; }

  [[nodiscard]] bool closed() const;
  /// It has no room now, but will have: it is being made, or the server has not said yet how many streams it
  /// allows, or none at all.
  [[nodiscard]] bool promising() const;
  [[nodiscard]] bool idle() const { return session_ && session_->active() == 0; }
  [[nodiscard]] TimePoint idle_since() const noexcept { return idle_since_; }
  [[nodiscard]] bool wants_read() const { return session_->wants_input(); }
  [[nodiscard]] bool wants_write() const noexcept { return blocked_; }
  /// There may be bytes that the socket does not tell of.
  [[nodiscard]] bool has_more() const { return more_ && session_->wants_input(); }

 private:
  void read_some(std::span<char> buffer);
  void write_all();

  const SessionSettings& settings_;
  const TransportOptions& options_;
  std::unique_ptr<Dial> dial_;
  std::unique_ptr<Session> session_;
  std::size_t begun_ = 0;
  bool retired_ = false;
  bool broken_ = false;
  bool blocked_ = false;
  bool more_ = false;
  TimePoint idle_since_{};
  TimePoint last_received_{};
  std::optional<TimePoint> ping_sent_;
};

}  // namespace kube::detail
