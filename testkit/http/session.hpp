// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/http/limits.hpp"
#include "testkit/http/message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// Interfaces inside the HTTP front: a Connection carries a Session (HTTP/1.1 or HTTP/2), which
/// passes requests to a Service and sends its Replies.
namespace kube::testkit::detail {

/// The amount of data that is collected for one write to a socket.
inline constexpr std::size_t kWriteBatch = 65536;

/// A response body as it is sent, with faults applied. Used only on the strand of its connection.
class BodySource {
 public:
  enum class State {
    kChunk,
    kWait,    ///< `wake` will be called
    kEnd,     ///< the body is complete
    kReset,   ///< the connection is broken here
    kSilent,  ///< nothing more is sent; the connection stays open
  };
  struct Poll {
    State state = State::kWait;
    std::string bytes = {};
  };

  virtual ~BodySource() = default;
  virtual Poll poll(const std::function<void()>& wake) = 0;
};

struct Reply {
  enum class Fate {
    kAnswer,
    kReset,   ///< the connection is broken without a response
    kSilent,  ///< no response is sent; the connection stays open
  };
  Fate fate = Fate::kAnswer;
  int status = 200;
  Headers headers = {};
  std::string body = {};
  /// Sent after `body`; null if `body` is complete.
  std::unique_ptr<BodySource> source = nullptr;
  /// Send without Content-Length, as for lists and watches (RQ-6). Implied by `source` unless
  /// `length` is given.
  bool chunked = false;
  /// The value of Content-Length if `source` delivers a body of known size; otherwise -1.
  std::int64_t length = -1;
  /// Send each flush as a complete gzip member (WT-24).
  bool gzip_flushes = false;
  /// Close the connection after the response.
  bool close = false;
};

/// Answers requests, synchronously or later. `done` is called once, from any thread.
class Service {
 public:
  virtual ~Service() = default;
  virtual void serve(ServerRequest request, std::function<void(Reply)> done) = 0;
};

/// The interface of a Connection towards its Session.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// Passes `request` to the service. `done` is called on the strand, possibly before serve()
  /// returns, and never after the session is destroyed.
  virtual void serve(ServerRequest request, std::function<void(Reply)> done) = 0;
  /// Returns a function that may be called from any thread and calls Session::woken(stream) on the
  /// strand.
  [[nodiscard]] virtual std::function<void()> waker(std::int32_t stream) = 0;
  /// Requests a call of Session::produce().
  virtual void wake() = 0;
  /// Stops all sending and reading, but keeps the socket open.
  virtual void silence() = 0;
  [[nodiscard]] virtual const ConnectionLimits& limits() const = 0;
  [[nodiscard]] virtual FrontCounters& counters() = 0;
};

/// One protocol on one connection. All methods are called on the strand of the connection.
class Session {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Ending {
    kNone,
    kClose,  ///< gracefully
    kBreak,  ///< in the middle of a response
    kReset,  ///< with a TCP reset, before any response
  };

  virtual ~Session() = default;
  virtual void receive(std::string_view bytes) = 0;
  /// Appends output until `out` has about `limit` bytes or there is no more.
  virtual void produce(std::string& out, std::size_t limit) = 0;
  virtual void woken(std::int32_t stream) = 0;
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
  /// Refuses requests that have exceeded the time limit for their head or body.
  virtual void refuse_slow(Time now) = 0;
  /// Ends the session because the peer was idle for too long.
  virtual void expire() = 0;
};

/// Compresses `bytes` as one gzip member, level 1.
[[nodiscard]] std::string gzip(std::string_view bytes);
/// Returns the reason phrase: "Not Found" for 404, "Unknown" for an unknown status.
[[nodiscard]] std::string_view reason_phrase(int status);
/// Creates a plain-text response of the front itself; the connection is closed after it.
[[nodiscard]] Reply text_reply(int status, std::string body);
/// Creates a response with a Status object; the connection is closed after it.
[[nodiscard]] Reply status_reply(int status, std::string_view reason, std::string_view message);
/// Creates the 413 response of RQ-7.
[[nodiscard]] Reply body_too_large();
/// Creates the 408 response of RQ-12; `part` is "head" or "body".
[[nodiscard]] Reply too_slow(std::string_view part, std::chrono::milliseconds limit);

}  // namespace kube::testkit::detail
