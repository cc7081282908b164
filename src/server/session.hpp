// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "handler.hpp"
#include "limits.hpp"
#include "message.hpp"

namespace kube::server {

/// The interface of a Connection towards its Session.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// Passes `request` to the handler. Returns its reply, if there already is one; otherwise
  /// Session::answer() is called with the same number later.
  [[nodiscard]] virtual std::optional<Reply> serve(Request request, std::int32_t exchange) = 0;
  /// Returns a function that may be called from any thread and makes the connection call
  /// Session::woken().
  [[nodiscard]] virtual std::function<void()> waker(std::int32_t exchange) = 0;
  /// Stops all sending and reading, but keeps the socket open.
  virtual void silence() = 0;
  [[nodiscard]] virtual Clock::TimePoint now() const = 0;
  [[nodiscard]] virtual const Limits& limits() const = 0;
  [[nodiscard]] virtual Handler& handler() = 0;
  [[nodiscard]] virtual const std::shared_ptr<const Peer>& peer() const = 0;
};

/// One protocol on one connection, without sockets: consumes and produces bytes. Used on the loop's
/// thread. After a method has thrown, it may only be destroyed.
class Session {
 public:
  using TimePoint = Clock::TimePoint;
  enum class Ending {
    kNone,
    kClose,  ///< gracefully
    kBreak,  ///< in the middle of a response
    kReset,  ///< with a TCP reset, before any response
  };

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  virtual void receive(std::string_view bytes) = 0;
  /// Appends output until `out` has about `limit` bytes or there is no more.
  virtual void produce(std::string& out, std::size_t limit) = 0;
  virtual void answer(std::int32_t exchange, Reply reply) = 0;
  /// Resumes the body of a response, or the reading of a request.
  virtual void woken(std::int32_t exchange) = 0;
  /// Returns whether more bytes may be read from the peer.
  [[nodiscard]] virtual bool wants_input() const = 0;
  /// Returns whether no request is in progress, not even a partial one.
  [[nodiscard]] virtual bool idle() const = 0;
  /// Returns the number of requests received so far.
  [[nodiscard]] virtual std::uint64_t requests() const = 0;
  /// Returns how the connection is to end once all output is written.
  [[nodiscard]] virtual Ending ending() const = 0;
  /// Accepts no new requests, ends streams, and finishes.
  virtual void drain() = 0;
  /// Ends the session because the peer was idle for too long.
  virtual void expire() = 0;
  /// Ends the session for another reason. HTTP/1.1 answers the request that has begun, if any.
  virtual void refuse(Refusal why) = 0;
  /// Returns when refuse_slow() has something to do, at the earliest.
  [[nodiscard]] virtual TimePoint next_timeout() const = 0;
  /// Refuses requests that have exceeded the time limit for their head, body or answer.
  virtual void refuse_slow(TimePoint now) = 0;
};

/// HTTP/1.1 with keep-alive and pipelining: one exchange at a time, further requests wait.
[[nodiscard]] std::unique_ptr<Session> make_http1_session(SessionHost& host);
[[nodiscard]] std::unique_ptr<Session> make_http2_session(SessionHost& host);

/// Replaces line breaks in header values, which would begin another header or response.
void sanitize(Headers& headers);
/// Returns the deadline of something that began at `since`; a limit of 0 is none.
[[nodiscard]] inline Clock::TimePoint deadline_of(Clock::TimePoint since,
                                                  std::chrono::milliseconds limit) {
  return limit.count() == 0 ? Clock::TimePoint::max() : since + limit;
}

}  // namespace kube::server
